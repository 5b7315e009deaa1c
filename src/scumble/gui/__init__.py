"""The page in the browser. Nothing is here yet."""

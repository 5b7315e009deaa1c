"""The page in the browser: a server on this machine, an HTTP API, and files without a build."""

"""Tasks of worker processes, by kind; `scumble.gui.tasks.run` runs them."""

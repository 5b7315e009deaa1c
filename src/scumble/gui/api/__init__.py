"""The HTTP API: one function per address, listed in `scumble.gui.api.routes`."""

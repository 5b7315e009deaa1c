"""The floor: errors, validation, files, threads, the registry. It knows nothing of rooms above."""

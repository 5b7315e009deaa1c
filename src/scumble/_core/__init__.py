"""Errors, validation, files, threads, processes and the registry, used by all subpackages."""

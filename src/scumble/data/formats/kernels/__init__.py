"""Compiled parsers: bytes in, arrays out."""

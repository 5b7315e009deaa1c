"""The command line: parse options, call a lower subpackage, print. No algorithms here."""

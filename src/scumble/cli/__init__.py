"""The command line: parse, call a room below, print. No algorithms here."""

"""The command line: a command parses its arguments, makes one public call, and prints."""

"""The command line; needs the extra `cli`."""

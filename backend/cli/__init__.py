"""The command line: one parser, one file of commands a subject, one way to print."""

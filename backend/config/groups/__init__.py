"""The settings of a run, one group of the form a file. RunConfig is all of them together."""

"""What runs inside a reward's own process, in both levels. Standard library only, and no import but of one another:
the sandbox gets these files as one text."""

"""The report and the model card of a run, made from the database at any time."""

"""Every sampled completion: found, shown as a group, followed over the run, counted, exported."""

"""A run's weights for elsewhere: adapter, merged, on the hub; what a run takes on the disk."""

"""A run's processes: the launcher starts a shim, the shim a worker; reconcile settles what neither could say."""

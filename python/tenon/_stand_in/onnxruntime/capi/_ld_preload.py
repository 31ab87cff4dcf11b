"""Nothing needs to be loaded first."""

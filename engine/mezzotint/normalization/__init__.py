"""GroupNorm and the SiLU after it, by one kernel."""

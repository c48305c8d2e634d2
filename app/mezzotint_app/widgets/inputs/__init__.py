"""Input widgets."""

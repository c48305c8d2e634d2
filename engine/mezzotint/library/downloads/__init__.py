"""Model downloads."""

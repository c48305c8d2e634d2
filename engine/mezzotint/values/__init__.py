"""Types of option values."""

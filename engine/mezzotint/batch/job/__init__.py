"""Job files: reading, writing, and their settings."""

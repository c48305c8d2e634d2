"""Which models exist, and where. Read-only: nothing is copied or moved."""

"""`mezzotint styles`."""

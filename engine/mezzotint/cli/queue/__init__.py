"""`mezzotint queue`."""

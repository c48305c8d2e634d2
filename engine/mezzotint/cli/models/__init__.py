"""`mezzotint models`."""

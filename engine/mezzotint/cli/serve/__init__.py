"""`mezzotint serve`."""

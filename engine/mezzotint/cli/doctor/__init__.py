"""`mezzotint doctor`."""

"""`mezzotint batch` and `mezzotint run`."""

"""`mezzotint bench`."""

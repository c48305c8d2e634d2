"""What `mezzotint bench training-memory` measures."""

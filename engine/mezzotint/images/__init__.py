"""Images and their metadata: read with care, written whole or not at all."""

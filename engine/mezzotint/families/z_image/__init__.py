"""Z-Image: a single-stream transformer over the tokens of words and image alike (arXiv 2511.22699)."""

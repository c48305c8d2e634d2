"""Z-Image: a single-stream transformer over text and image tokens (arXiv 2511.22699)."""

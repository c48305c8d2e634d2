"""Control images for the window: made once, and kept for the next look."""

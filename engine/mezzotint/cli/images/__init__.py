"""Commands for single image files."""

"""The manifest of an output folder, and what is read from it."""

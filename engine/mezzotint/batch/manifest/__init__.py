"""The manifest of an output folder, and its readers."""

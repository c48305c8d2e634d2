"""The engine's installation in the window."""

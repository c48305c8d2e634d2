"""The Gallery page and the viewer."""

"""Observable state of the window, without widgets: QtCore only."""

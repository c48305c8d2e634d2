"""The window's view models: observable state without widgets, QtCore only."""

"""Widgets that take values."""

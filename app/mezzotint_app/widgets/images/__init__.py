"""Widgets that show images."""

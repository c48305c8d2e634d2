"""Widgets used by the pages."""

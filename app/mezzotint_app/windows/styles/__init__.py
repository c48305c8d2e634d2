"""Dialogs for styles."""

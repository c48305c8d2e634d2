"""Installed models, and models available for download."""

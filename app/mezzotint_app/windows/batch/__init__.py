"""The Batch page."""

"""The Canvas page."""

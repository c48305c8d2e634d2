"""Job files: read, written, and the settings that they hold."""

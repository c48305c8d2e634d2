"""The desktop window. Never imports torch."""

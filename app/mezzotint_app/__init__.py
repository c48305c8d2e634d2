"""The desktop app. Never imports torch."""

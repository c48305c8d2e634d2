"""The queue as the window shows it, and what drains it."""

"""A run: workers, order of tasks, pauses, what is told."""

"""Running a batch: workers, order of tasks, pauses, progress."""

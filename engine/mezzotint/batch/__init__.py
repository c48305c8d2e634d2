"""Batches: what a job file stands for, task by task, and how the tasks are made."""

"""Batches: expand a job file into tasks, and run them."""

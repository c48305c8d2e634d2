"""Expansion of a job into tasks: inputs, prompts and matrix."""

"""Selects the implementation of an operation: kernels where they support it, torch elsewhere."""

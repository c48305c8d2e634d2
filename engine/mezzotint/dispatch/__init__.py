"""Which code does an operation: kernels where they can, and torch elsewhere."""

"""The machine: memory, limits and speeds, expected, probed and learned."""

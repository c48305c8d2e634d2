"""What a machine has: memory, limits and speeds, expected, probed and learned."""

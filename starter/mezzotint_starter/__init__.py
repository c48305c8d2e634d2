"""The recipe that trains the starter models and their judge from scratch."""

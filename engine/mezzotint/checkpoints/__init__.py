"""Safe reading of model files: nothing is executed, and sizes are checked before memory is allocated."""

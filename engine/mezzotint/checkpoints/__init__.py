"""Model files read safely: nothing is executed, sizes are checked before memory is taken."""

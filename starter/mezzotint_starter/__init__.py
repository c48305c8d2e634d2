"""The recipe that makes the starter models and their judge from nothing."""

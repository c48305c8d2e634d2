"""Weights in 8 and 4 bits: how they are rounded, multiplied and kept."""

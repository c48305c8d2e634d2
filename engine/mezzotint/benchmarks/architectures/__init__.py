"""Measurements of efficient architectures: how attention scales, and what the literature claims about blocks."""

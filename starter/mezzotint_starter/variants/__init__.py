"""Variants of starter-dit: the same model with another architecture."""

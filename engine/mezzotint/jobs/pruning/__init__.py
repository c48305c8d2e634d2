"""Smaller copies of models."""

"""Converts models to quantized copies."""

"""Weights in 8 and 4 bits: quantization, products and storage."""

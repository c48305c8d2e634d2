"""What multiplies with quantized weights: kernels, ours or others', and torch."""

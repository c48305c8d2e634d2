"""Products with quantized weights, by our kernels, those of others, or torch."""

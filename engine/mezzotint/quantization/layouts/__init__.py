"""File layouts of quantized layers."""

"""How quantized layers lie in files."""

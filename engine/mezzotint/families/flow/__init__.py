"""Code shared by all flow-matching transformers (arXiv 2210.02747, 2403.03206)."""

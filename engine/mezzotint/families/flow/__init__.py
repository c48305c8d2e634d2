"""What all flow-matching transformers share (arXiv 2210.02747, 2403.03206)."""

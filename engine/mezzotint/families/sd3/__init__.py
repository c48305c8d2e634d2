"""Stable Diffusion 3 and 3.5: two streams of tokens that attend to each other (arXiv 2403.03206)."""

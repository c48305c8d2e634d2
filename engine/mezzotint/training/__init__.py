"""Training: the starter models, LoRA."""

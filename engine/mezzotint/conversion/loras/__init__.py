"""LoRA files merged, resized and extracted from checkpoints."""

"""A training from its request to the LoRA file."""

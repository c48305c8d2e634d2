"""LoRA files: read, matched to the layers of a model, and put beside its weights."""

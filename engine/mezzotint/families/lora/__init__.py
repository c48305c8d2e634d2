"""Reads LoRA files, matches them to the layers of a model, and applies them."""

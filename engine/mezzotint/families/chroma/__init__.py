"""Chroma: FLUX.1's blocks modulated by a single small network, with T5 only (huggingface.co/lodestones/Chroma)."""

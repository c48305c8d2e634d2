"""Chroma: FLUX.1's blocks, modulated by one small network, with T5 alone to read (huggingface.co/lodestones/Chroma)."""

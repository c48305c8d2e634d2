"""Qwen-Image: a double-stream transformer with a language model as its text encoder (arXiv 2508.02324)."""

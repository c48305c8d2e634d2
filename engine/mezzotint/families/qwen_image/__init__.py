"""Qwen-Image: a transformer of two streams, whose words a language model reads (arXiv 2508.02324)."""

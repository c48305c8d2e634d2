"""Benchmarks of `mezzotint bench`: attention, products, and how well starter models follow prompts."""

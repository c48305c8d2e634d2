"""FLUX.1: double and single stream blocks, after the multimodal transformer of arXiv 2403.03206."""

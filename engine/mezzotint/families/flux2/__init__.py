"""FLUX.2 Klein: streams of words and image that join, after the multimodal transformer of arXiv 2403.03206."""

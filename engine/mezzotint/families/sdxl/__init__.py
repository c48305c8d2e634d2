"""SDXL (Podell et al., arXiv 2307.01952)."""

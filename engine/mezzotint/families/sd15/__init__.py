"""Stable Diffusion 1.5 (Rombach et al., arXiv 2112.10752)."""

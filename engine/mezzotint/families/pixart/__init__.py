"""PixArt-alpha and PixArt-Sigma (Chen et al., arXiv 2310.00426 and 2403.04692)."""

"""4-bit weights and inputs with scales by group, smoothing and a low-rank branch (SVDQuant, arXiv 2411.05007)."""

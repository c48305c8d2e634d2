"""Sana: linear attention over latents of 32 by 32 pixels each (arXiv 2410.10629)."""

"""Model families, one file each, built on the networks, schedulers and text encoders of diffusers and transformers."""

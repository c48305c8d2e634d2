"""Model families: one file each, over the networks, schedulers and text encoders of diffusers and transformers."""

"""Small decoders that show what a latent image becomes: TAESD and its kin, and the starters' own."""

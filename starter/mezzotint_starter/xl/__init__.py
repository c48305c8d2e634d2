"""starter-xl: CLIP text encoders, base and refiner U-Nets."""

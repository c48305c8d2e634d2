"""Ways to make a step cheaper without changing the image."""

"""A folder of images and captions to train on: read, checked, and turned into batches. Only pixels.py needs torch."""

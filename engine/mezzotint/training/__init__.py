"""Training of LoRAs on a folder of images."""

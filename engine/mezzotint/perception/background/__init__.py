"""Removing backgrounds: networks that say of each pixel whether it is in front."""

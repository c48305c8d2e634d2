"""Variants of PixArt's network that Mezzotint defines itself: the starter's recipe trains them."""

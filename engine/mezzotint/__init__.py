"""Mezzotint: pictures from words, made on your own machine."""

__version__ = "0.1.0"

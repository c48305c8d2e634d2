"""Upscalers: networks that enlarge images."""

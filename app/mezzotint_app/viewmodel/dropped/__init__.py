"""Drag and drop on the window, and metadata of images."""

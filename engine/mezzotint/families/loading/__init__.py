"""Weights from files into networks, whatever the layout on disk, quantized as they come or as they are stored."""

"""Loads weights from files into networks, whatever the layout on disk, quantized on load or as stored."""

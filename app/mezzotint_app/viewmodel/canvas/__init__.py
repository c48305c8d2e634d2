"""The canvas: layers of sparse tiles with undo, a frame that is generated into, and OpenRaster files."""

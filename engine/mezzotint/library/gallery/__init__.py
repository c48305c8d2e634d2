"""The gallery: an index of the images in the output folders."""

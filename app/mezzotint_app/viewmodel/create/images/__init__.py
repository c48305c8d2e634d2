"""The images that the create page takes: the image input, its mask, the references."""

"""Images, their metadata, models and downloads on disk, handled without importing torch."""

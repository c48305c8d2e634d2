"""What is on disk, looked at without torch: images, their settings, models, downloads."""

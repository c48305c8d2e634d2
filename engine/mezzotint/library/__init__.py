"""What is on disk, looked at without torch: pictures, their settings, models, downloads."""

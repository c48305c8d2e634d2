"""What makes a step cheaper and leaves the image as it is."""

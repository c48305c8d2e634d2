"""What makes a step cheaper and leaves the picture as it is."""

"""The queue: images to generate, who processes it, how long it will take."""

"""Images to be made: the queue, who drains it, how long it will take."""

"""Images into a job and out of it: init images, masks, decoding, saving."""

"""Input and output images of a job: init images, masks, decoding, saving."""

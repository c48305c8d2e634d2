"""Detail passes: what detectors find in a finished image is inpainted at the model's full size."""

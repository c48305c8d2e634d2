"""ComfyUI's node graphs: read for how an image was made, and never run."""

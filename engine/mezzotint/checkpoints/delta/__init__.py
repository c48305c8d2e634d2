"""Delta files: safetensors files that store only what differs from another model's weights, their trunk."""

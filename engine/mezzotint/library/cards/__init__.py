"""What is known of model and LoRA files: from their metadata, files beside them, and the user."""

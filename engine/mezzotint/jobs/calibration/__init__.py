"""What a model's layers see and do while it makes a few images."""

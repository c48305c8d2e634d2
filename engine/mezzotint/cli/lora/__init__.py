"""`mezzotint lora`."""

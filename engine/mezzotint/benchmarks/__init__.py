"""What `mezzotint bench` measures: attention, products, and how well starters follow prompts."""

"""What is typed in a prompt, completed: tags of a file, LoRAs, embeddings and wildcards."""

"""What `make gpu-check` does on a card: parts in processes of their own, results that are kept, and what they mean."""

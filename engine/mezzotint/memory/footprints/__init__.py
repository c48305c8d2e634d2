"""What networks need: bytes of their weights, live memory and work of their passes, traced without weights."""

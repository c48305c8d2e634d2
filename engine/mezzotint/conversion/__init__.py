"""Models made from models: quantized copies."""

"""The starters' little world: its scenes and captions, how they are drawn, and the judge of images."""

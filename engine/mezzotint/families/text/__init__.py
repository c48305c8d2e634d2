"""Encodes prompts into conditioning: prompt weights, CLIP, textual inversion."""

"""Choices and variables in prompts: their grammar, and what they become."""

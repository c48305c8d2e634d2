"""Prompts that change from step to step."""

"""`<lora:name:0.8>` tags in prompts, by which other programs load LoRAs."""

import re

_TAG = re.compile(r"<(?:lora|lyco):[^<>]*>")


def has_lora_tags(prompt: str) -> bool:
    """Whether the prompt contains a LoRA tag."""
    return _TAG.search(prompt) is not None


def without_lora_tags(prompt: str) -> str:
    """The prompt without LoRA tags, for the text encoder; unchanged if there are none."""
    return _TAG.sub("", prompt).strip() if has_lora_tags(prompt) else prompt

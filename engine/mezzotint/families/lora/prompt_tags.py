"""`<lora:name:0.8>` in prompts, by which other programs load LoRAs."""

import re

_TAG = re.compile(r"<(?:lora|lyco):[^<>]*>")


def has_lora_tags(prompt: str) -> bool:
    """Whether there is such a tag."""
    return _TAG.search(prompt) is not None


def without_lora_tags(prompt: str) -> str:
    """The prompt as the text encoder is to read it; as it is where there is none."""
    return _TAG.sub("", prompt).strip() if has_lora_tags(prompt) else prompt

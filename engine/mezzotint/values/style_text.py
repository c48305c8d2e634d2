"""The text of styles, put around a prompt. Standard library only."""

from collections.abc import Iterable

PLACEHOLDER = "{prompt}"


def with_styles(prompt: str, texts: Iterable[str]) -> str:
    """The prompt in place of each text's `{prompt}`; a text without one is added after a comma."""
    for text in texts:
        if PLACEHOLDER in text:
            prompt = text.replace(PLACEHOLDER, prompt)
        else:
            prompt = ", ".join(filter(None, (prompt.strip(), text.strip())))
    return prompt

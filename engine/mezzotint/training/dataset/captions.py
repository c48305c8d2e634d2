"""The text that an image is trained with at a step."""

import random
import re
from dataclasses import dataclass

from mezzotint.training.dataset.draws import generator, shuffled
from mezzotint.training.dataset.records import TrainingImage

PLACEHOLDER = "[trigger]"  # in captions, as in ai-toolkit's


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionOptions:
    """How captions are changed on their way to the text encoders."""

    trigger: str = ""  # the word that is learned; added in front of captions that do not contain it
    prefix: str = ""  # text in front of it
    shuffle: bool = False  # the parts between commas are shuffled
    keep_tokens: int = 0  # except for the first ones
    dropout: float = 0.0  # probability of no text at all, which classifier-free guidance needs


def caption_for(image: TrainingImage, options: CaptionOptions, *, seed: int, step: int) -> str:
    """The text of an image at a step, a pure function of these; regularization images get no trigger and no prefix."""
    draws = generator("caption", seed, step, image.content)
    if draws.random() < options.dropout:
        return ""
    caption = image.captions[int(draws.random() * len(image.captions))] if image.captions else ""
    if options.shuffle:
        caption = _shuffled_parts(caption, options.keep_tokens, draws)
    if image.regularization:
        return _without_placeholder(caption)
    caption = caption.replace(PLACEHOLDER, options.trigger) if options.trigger else _without_placeholder(caption)
    return " ".join(filter(None, (options.prefix, _with_trigger(caption, options.trigger))))


def _shuffled_parts(caption: str, keep: int, draws: random.Random) -> str:
    parts = [part for part in map(str.strip, caption.split(",")) if part]
    return ", ".join([*parts[:keep], *shuffled(parts[keep:], draws)])


def _without_placeholder(caption: str) -> str:
    return " ".join(caption.replace(PLACEHOLDER, "").split()) if PLACEHOLDER in caption else caption


def _with_trigger(caption: str, trigger: str) -> str:
    """Put the trigger in front unless the caption contains it as words of its own, in any case."""
    if trigger and not re.search(rf"(?<!\w){re.escape(trigger)}(?!\w)", caption, re.IGNORECASE):
        return ", ".join(filter(None, (trigger, caption)))
    return caption

"""What text encoders do not read of a text because it is too long: found where it is cut, whatever the family."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.family import CutText, Family, LoadedModel

_SHOWN = 80  # characters of what was lost


@dataclass(slots=True, kw_only=True)
class TextReadings:
    """What tokenizers were given, and how much of it was lost."""

    tails: Sequence[str]  # of chat templates, after the prompt
    cut: dict[str, list[CutText]] = field(default_factory=dict)  # by text
    whole: dict[str, list[str]] = field(default_factory=dict)  # encoders that read a text to its end, by text

    def cut_texts(self) -> tuple[CutText, ...]:
        """Each cut, once."""
        return tuple(dict.fromkeys(one for text in self.cut for one in self._of(text)))

    def _of(self, text: str) -> Iterator[CutText]:
        others = tuple(self.whole.get(text, ()))
        for one in self.cut[text]:
            yield CutText(encoder=one.encoder, limit=one.limit, tokens=one.tokens, text=one.text, read_by=others)


class _Watched:
    """A tokenizer that notes what it cuts off."""

    def __init__(self, tokenizer: Any, encoder: str, readings: TextReadings) -> None:  # noqa: ANN401
        vars(self).update(tokenizer=tokenizer, encoder=encoder, readings=readings)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the tokenizer has
        return getattr(vars(self)["tokenizer"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(vars(self)["tokenizer"], name, value)

    def __call__(self, text: Any, **options: Any) -> Any:  # noqa: ANN401
        """The tokens of a text, as the tokenizer gives them."""
        found = self.tokenizer(text, **options)
        if options.get("truncation") and isinstance(options.get("max_length"), int):
            for one in [text] if isinstance(text, str) else text:
                self._note(one, options["max_length"])
        return found

    def _note(self, text: str, limit: int) -> None:
        tokenizer, readings = self.tokenizer, self.readings
        every = _ids(tokenizer, text)
        if len(every) <= limit:
            readings.whole.setdefault(text, []).append(self.encoder)
            return
        kept = _ids(tokenizer, text, max_length=limit, truncation=True)
        same = next((at for at, pair in enumerate(zip(every, kept, strict=False)) if pair[0] != pair[1]), limit)
        lost = every[same : same + len(every) - limit]
        tail = next((tail for tail in readings.tails if tail and text.endswith(tail)), "")
        lost = lost[: len(lost) - len(_ids(tokenizer, tail, add_special_tokens=False))] if tail else lost
        if lost:
            words = tokenizer.decode(lost, skip_special_tokens=True).strip()
            cut = CutText(encoder=self.encoder, limit=limit, tokens=len(lost), text=words)
            readings.cut.setdefault(text, []).append(cut)


@contextmanager
def noting_cuts(family: Family, model: LoadedModel) -> Iterator[TextReadings]:
    """Context manager: note what the tokenizers of a model cut off."""
    template = getattr(getattr(family, "spec", None), "template", "{prompt}")
    readings = TextReadings(tails=(template.split("{prompt}")[-1],))
    plain_ones = dict(model.tokenizers)
    for name, tokenizer in plain_ones.items():
        model.tokenizers[name] = _Watched(tokenizer, _encoder_of(name, model), readings)
    try:
        yield readings
    finally:
        model.tokenizers.update(plain_ones)


def cut_notices(cut: Sequence[CutText], what: str) -> Iterator[str]:
    """Yield a line for each text that was cut; `what` it is, such as "a prompt"."""
    for one in cut:
        others = f"; {', '.join(one.read_by)} reads it to the end" if one.read_by else ""
        tokens = "1 token was" if one.tokens == 1 else f"{one.tokens} tokens were"
        yield (
            f"{what} is longer than the {one.limit} tokens that {one.encoder} reads: {tokens} cut, from "
            f"'{plain(one.text, _SHOWN)}' on{others}"
        )


def _encoder_of(tokenizer: str, model: LoadedModel) -> str:
    """The class of a tokenizer's text encoder, by which people know it."""
    name = tokenizer.replace("tokenizer", "text_encoder")
    component = model.sources.components.get(name)
    return name if component is None else plain(component.class_name, 60)


def _ids(tokenizer: Any, text: str, **options: Any) -> list[int]:  # noqa: ANN401
    return list(tokenizer(text, verbose=False, **options).input_ids)

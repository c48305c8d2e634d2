"""Detail passes: what to find in a finished image, and how it is inpainted at full size. Standard library only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mezzotint.values.basic import Integer, NameOrFile, Number, Text, Value, shown
from mezzotint.values.keyed import split_keyed, written_keyed

MAX_DETAILS = 8
MAX_DETAIL_PADDING = 1024  # pixels
DETAIL_STRENGTH = 0.4
DETAIL_CONFIDENCE = 0.5
DETAIL_PADDING = 32

_EXAMPLE = "person,strength=0.4"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailRef:
    """A label of a detector, each finding of which is inpainted."""

    label: str  # such as person, in the detector's words
    model: str | None = None  # the detector: a name that is found, or a folder; None: the first that has the label
    prompt: str | None = None  # None: the image's
    strength: float = DETAIL_STRENGTH
    confidence: float = DETAIL_CONFIDENCE  # least score of what is found
    padding: int = DETAIL_PADDING  # pixels around it that the model sees
    sha256: str | None = None  # of the detector's weights; if given, changed ones are refused

    def with_model(self, change: Callable[[str], str]) -> "DetailRef":
        """Same with the detector, if one is named, changed."""
        return self if self.model is None else replace(self, model=change(self.model))


_VALUES: Mapping[str, Value] = {
    "label": Text(200),
    "model": NameOrFile(),
    "prompt": Text(65_536),
    "strength": Number(0, 1, DETAIL_STRENGTH),
    "confidence": Number(0, 1, DETAIL_CONFIDENCE),
    "padding": Integer(0, MAX_DETAIL_PADDING, DETAIL_PADDING),
}
_KEYS = tuple(name for name in _VALUES if name != "label")


@dataclass(frozen=True, slots=True)
class Detail(Value):
    """LABEL with further keys; in job files also a table. A comma before a word and = is written twice."""

    metavar: str = "LABEL[,KEY=VALUE...]"

    def read(self, value: object) -> DetailRef:
        """Label and settings."""
        if isinstance(value, Mapping):
            return _ref({str(name): one for name, one in value.items()})
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text or a table; expected {_EXAMPLE}")
        return self.parse(value)

    def parse(self, word: str) -> DetailRef:
        """Label and settings; the detector's name may be undecodable."""
        return _ref(split_keyed(word, "label"))

    def to_setting(self, value: DetailRef) -> str:
        """The label and what differs from the defaults."""
        default = DetailRef(label="")
        pairs = ((name, getattr(value, name)) for name in _KEYS)
        others = (f",{name}={written_keyed(one)}" for name, one in pairs if one != getattr(default, name))
        return "".join((written_keyed(value.label), *others))

    def to_arguments(self, value: DetailRef) -> list[str]:
        """The same."""
        return [self.to_setting(value)]


def check_detail(detail: DetailRef) -> None:
    """Raise ValueError for values out of range."""
    for name in _VALUES:
        value = getattr(detail, name)
        if value is not None:
            _read(name, value)
    if not detail.label.strip():
        raise ValueError(f"no label is given of what to find; expected {_EXAMPLE}")


def _ref(said: Mapping[str, object]) -> DetailRef:
    unknown = next((name for name in said if name not in _VALUES), None)
    if unknown is not None:
        raise ValueError(
            f"{shown(unknown)} is not a key; expected {', '.join(_KEYS)} (a comma before a word and = in a prompt is "
            "written twice)"
        )
    values: dict[str, Any] = {name: _read(name, one) for name, one in said.items()}
    detail = DetailRef(**{"label": ""} | values)
    check_detail(detail)
    return replace(detail, label=detail.label.strip())


def _read(name: str, value: object) -> object:
    kind = _VALUES[name]
    try:
        if isinstance(kind, NameOrFile):
            return kind.parse(value) if isinstance(value, str) and value else kind.read(value)
        return kind.read(kind.from_text(value) if isinstance(value, str) else value)
    except ValueError as error:
        raise ValueError(f"{name}={error}") from None

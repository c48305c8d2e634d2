"""The fields of a request, read one by one; their values may be anything."""

from collections.abc import Callable, Mapping

from mezzotint.api_server.refusal import invalid
from mezzotint.images.untrusted import real, whole
from mezzotint.options import OPTIONS
from mezzotint.values.basic import shown

_FLAGS = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


class Fields:
    """A JSON object; null is the same as absent, and numbers may be written as text, as A1111 accepts them.

    What was not read of it, and of the objects inside, is `left`.
    """

    def __init__(self, data: Mapping[str, object], within: str = "") -> None:
        self.data = data
        self._left = {name: value for name, value in data.items() if value is not None}
        self._within = within
        self._inner: list[Fields] = []

    def take(self, name: str) -> object:
        """The value as it is; None if absent."""
        return self._left.pop(name, None)

    def take_if(self, name: str, has_no_effect: Callable[[object], bool]) -> None:
        """Take a value that changes nothing; any other is left, and so is named as ignored."""
        if name in self._left and has_no_effect(self._left[name]):
            del self._left[name]

    def drop(self) -> None:
        """Take whatever is left of an object that is switched off."""
        self._left.clear()
        self._inner.clear()

    def text(self, name: str, default: str = "", option: str | None = None) -> str:
        """Text, valid for an option if one is given."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise invalid(self.path(name), f"{shown(value)} is not text")
        value = value.replace("\r\n", "\n")
        return str(self._read(name, option, value)) if option is not None and value else value

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number within bounds."""
        value = self.take(name)
        number = default if value is None else whole(value)
        if number is None or not low <= number <= high:
            raise invalid(self.path(name), f"{shown(value)} is not a whole number from {low} to {high}")
        return number

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number within bounds."""
        value = self.take(name)
        number = default if value is None else real(value)
        if number is None or not low <= number <= high:
            raise invalid(self.path(name), f"{shown(value)} is not a number from {low:g} to {high:g}")
        return number

    def flag(self, name: str, default: bool = False) -> bool:
        """Yes or no."""
        value = self.take(name)
        found = default if value is None else _FLAGS.get(str(value).lower())
        if found is None:
            raise invalid(self.path(name), f"{shown(value)} is neither true nor false")
        return found

    def option(self, name: str, option: str, default: object = None) -> object:
        """A value of one of our options; a number may be written as text."""
        value = self.take(name)
        if value is None:
            return default
        kind = OPTIONS[option].takes.kind
        numeric = whole(value) if kind == "integer" else real(value) if kind == "number" else None
        return self._read(name, option, value if numeric is None else numeric)

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise invalid(self.path(name), f"{shown(value)} is not a list of texts")
        return list(value)

    def objects(self, name: str) -> "list[Fields]":
        """The fields of each object of a list."""
        value = self.take(name)
        if value is not None and not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
            raise invalid(self.path(name), f"{shown(value)} is not a list of objects")
        return [self.nested(one, f"{self.path(name)}[{index}]") for index, one in enumerate(value or [])]

    def inside(self, name: str) -> "Fields":
        """The fields of an object in it."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            raise invalid(self.path(name), f"{shown(value)} is not an object")
        return self.nested(value or {}, self.path(name))

    def left(self) -> list[str]:
        """The names that were not read, also in the objects inside."""
        own = [self.path(name) for name in self._left]
        return own + [name for inner in self._inner for name in inner.left()]

    def names(self) -> list[str]:
        """The names that are still to be read, as they were written."""
        return list(self._left)

    def path(self, name: str) -> str:
        """A field's name for a message."""
        return f"{self._within}.{name[:60]}" if self._within else name[:60]

    def nested(self, data: Mapping[str, object], path: str) -> "Fields":
        """The fields of an object that was taken; what is left of them is left of these, too."""
        self._inner.append(Fields(data, path))
        return self._inner[-1]

    def _read(self, name: str, option: str, value: object) -> object:
        try:
            return OPTIONS[option].takes.read(value)
        except ValueError as error:
            raise invalid(self.path(name), str(error)) from None

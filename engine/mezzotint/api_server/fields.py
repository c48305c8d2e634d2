"""The fields of a request, read one by one; their values may be anything."""

from collections.abc import Mapping

from mezzotint.api_server.refusal import invalid
from mezzotint.images.untrusted import real, whole
from mezzotint.options import OPTIONS
from mezzotint.values.basic import shown

_FLAGS = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


class Fields:
    """A JSON object; null is the same as absent, and numbers may be written as text, as A1111 accepts them."""

    def __init__(self, data: Mapping[str, object], within: str = "") -> None:
        self._left = {name: value for name, value in data.items() if value is not None}
        self._within = within

    def take(self, name: str) -> object:
        """The value as it is; None if absent."""
        return self._left.pop(name, None)

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
        return [Fields(one, f"{self.path(name)}[{index}]") for index, one in enumerate(value or [])]

    def inside(self, name: str) -> "Fields":
        """The fields of an object in it."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            raise invalid(self.path(name), f"{shown(value)} is not an object")
        return Fields(value or {}, self.path(name))

    def left(self) -> list[str]:
        """The names that were not read."""
        return [self.path(name) for name in self._left]

    def names(self) -> list[str]:
        """The names that are still to be read, as they were written."""
        return list(self._left)

    def path(self, name: str) -> str:
        """A field's name for a message."""
        return f"{self._within}.{name[:60]}" if self._within else name[:60]

    def _read(self, name: str, option: str, value: object) -> object:
        try:
            return OPTIONS[option].takes.read(value)
        except ValueError as error:
            raise invalid(self.path(name), str(error)) from None

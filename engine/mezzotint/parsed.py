"""What a reader made of user input, which can only be taken together with what it did not use and what it guessed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")

Notify = Callable[[str], None]

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A value that the input does not state: what was assumed, from what, and the option that overrides it."""

    assumed: str
    reason: str
    option: str | None = None

    def __str__(self) -> str:
        overrides = f"; {self.option} overrides it" if self.option else ""
        return f"{self.assumed} is assumed, from {self.reason}{overrides}"


class Parsed(Generic[T]):
    """A value read from user input; `take` is the only way to it, so that no caller forgets what was left out.

    `source` names the input in notices; `unused` are names of settings, keys or tensors that were not used.
    """

    __slots__ = ("_value", "guesses", "source", "unused")

    def __init__(self, value: T, *, source: str, unused: tuple[str, ...] = (), guesses: tuple[Guess, ...] = ()) -> None:
        self._value, self.source, self.unused, self.guesses = value, source, unused, guesses

    def notices(self) -> tuple[str, ...]:
        """A line for what was not used, if anything, and a line for each guess."""
        left_out = (f"{self.source}: not used: {enumerated(self.unused)}",) if self.unused else ()
        return left_out + tuple(f"{self.source}: {guess}" for guess in self.guesses)

    def take(self, notify: Notify) -> T:
        """Return the value, after passing each notice to `notify`."""
        for notice in self.notices():
            notify(notice)
        return self._value

    def map(self, function: Callable[[T], U]) -> "Parsed[U]":
        """Return the same with the function's result as the value."""
        return Parsed(function(self._value), source=self.source, unused=self.unused, guesses=self.guesses)

    def merge(self, other: "Parsed[U]", function: Callable[[T, U], V]) -> "Parsed[V]":
        """Return one of both values, with the notices of both, named after this source."""
        return Parsed(
            function(self._value, other._value),
            source=self.source,
            unused=self.unused + other.unused,
            guesses=self.guesses + other.guesses,
        )


def enumerated(names: tuple[str, ...]) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    shown = ", ".join(names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown

"""Networks in the naming of their first publication, which ComfyUI's files keep: told apart, configured, renamed."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from mezzotint.families.loading.original_names import THIRDS, Form

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]  # of the tensors of one network, without their prefix
Config: TypeAlias = Mapping[str, object]
Parameters: TypeAlias = tuple[tuple[str, Form], ...]  # of the network: names, and what part of the tensor each is

MOST_BLOCKS = 1000
DENOISER_PREFIXES = (r"model\.diffusion_model\.", r"diffusion_model\.", r"model\.model\.", r"net\.", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalNetwork:
    """One kind of network: how it is recognised in a file, and how its tensors are renamed."""

    name: str  # as messages have it
    library: str
    class_name: str
    marks: tuple[str, ...]  # patterns of tensors that every file of it has
    beside: tuple[str, ...] = ()  # patterns of tensors of its file that are not its own, or at another place
    absent: tuple[str, ...] = ()  # patterns of tensors, with their prefix, of networks that have the marks, too
    architectures: tuple[str, ...] = ()  # general.architecture of a GGUF; empty: any or none
    config: Callable[[Shapes], Config]  # by shapes; KeyError, IndexError or ValueError: another kind
    renames: Sequence[tuple[str, str]] = ()  # patterns of its names and what they become, one after the other
    joined: Mapping[str, Parameters] = field(default_factory=dict)  # parts of names that hold several in one
    forms: Mapping[str, Form] = field(default_factory=dict)  # patterns of names then that are not whole
    forms_of: Callable[[Config], Mapping[str, Form]] | None = None  # more of them, by the configuration
    dropped: tuple[str, ...] = ()  # beginnings of names that are not used
    placed: Callable[[str], Parameters] | None = None  # in the place of these three, where patterns say too little
    prefixes: tuple[str, ...] = ("",)  # patterns of prefixes, where it shares a file with other networks

    def of(self, config: Config) -> "OriginalNetwork":
        """The network of that configuration."""
        return self if self.forms_of is None else replace(self, forms={**self.forms, **self.forms_of(config)})

    def place(self, name: str) -> Parameters:
        """What a tensor fills, by its name without the prefix; nothing: it is not used."""
        if self.placed is not None:
            return self.placed(name)
        if name.startswith(self.dropped):
            return ()
        return formed(renamed(name, self.renames, self.joined), self.forms)

    def place_flat(self, layer: str) -> Parameters:
        """The same for a layer whose path is written with underscores, as those of some LoRAs are."""
        renames = [(pattern.replace(r"\.", "_"), new.replace(".", "_")) for pattern, new in self.renames]
        joined = {flat(old): tuple((flat(part), form) for part, form in parts) for old, parts in self.joined.items()}
        forms = {pattern.replace(r"\.", "_"): form for pattern, form in self.forms.items()}
        placed = formed(renamed(f"{layer}_", renames, joined), forms)
        return tuple((name.rstrip("_"), form) for name, form in placed)

    def prefix_in(self, names: Collection[str]) -> str | None:
        """What its tensors' names begin with in a file; None: it is not there."""
        if any(_has(names, pattern) for pattern in self.absent):
            return None
        if not all(_has(names, pattern) for pattern in self.beside):
            return None
        for prefix in self.prefixes:
            first = re.compile(f"({prefix}){self.marks[0]}")
            for found in {match[1] for match in map(first.match, names) if match}:
                if all(any(re.match(re.escape(found) + mark, name) for name in names) for mark in self.marks):
                    return found
        return None


def _has(names: Collection[str], pattern: str) -> bool:
    return any(re.search(pattern, name) for name in names)


def flat(path: str) -> str:
    """A path with underscores."""
    return path.replace(".", "_")


def renamed(
    name: str, renames: Sequence[tuple[str, str]], joined: Mapping[str, Parameters] = MappingProxyType({})
) -> Parameters:
    """A tensor's name by patterns and what they become, one after the other; `joined` hold several in one."""
    for pattern, new in renames:
        name = re.sub(pattern, new, name)
    for old, parts in joined.items():
        if old in name:
            return tuple((name.replace(old, part), form) for part, form in parts)
    return ((name, "whole"),)


def thirds(query: str, key: str, value: str) -> Parameters:
    """What holds queries, keys and values on top of one another."""
    return tuple(zip((query, key, value), THIRDS, strict=True))


def formed(placed: Parameters, forms: Mapping[str, Form]) -> Parameters:
    """With the form of the first pattern that finds a name."""
    return tuple(
        (name, next((each for pattern, each in forms.items() if re.search(pattern, name)), form))
        for name, form in placed
    )


def count(shapes: Shapes, pattern: str) -> int:
    """How many blocks there are, whose numbers the pattern finds; ValueError where they have gaps or are too many."""
    found = {int(match[1]) for match in map(re.compile(pattern).match, shapes) if match}
    if found != set(range(len(found))) or len(found) > MOST_BLOCKS:
        raise ValueError(f"the numbers of {pattern} have gaps")
    return len(found)

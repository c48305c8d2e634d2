"""Networks in the naming of their first publication, which ComfyUI's files keep: told apart, configured, renamed."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mezzotint.families.loading.original_names import THIRDS, Form

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]  # of the tensors of one network, without their prefix
Parameters: TypeAlias = tuple[tuple[str, Form], ...]  # of the network: names, and what part of the tensor each is

MOST_BLOCKS = 1000
DENOISER_PREFIXES = ("model.diffusion_model.", "model.model.", "net.", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalNetwork:
    """One kind of network: how a file is known to hold it, and what becomes of its tensors."""

    name: str  # as messages have it
    library: str
    class_name: str
    marks: tuple[str, ...]  # patterns of tensors that every file of it has
    config: Callable[[Shapes], Mapping[str, object]]  # by shapes; KeyError, IndexError or ValueError: another kind
    place: Callable[[str], Parameters]  # what a tensor fills; nothing: it is not used
    prefixes: tuple[str, ...] = ("",)  # what the names may begin with, where it is not alone

    def prefix_in(self, names: Collection[str]) -> str | None:
        """What its tensors' names begin with in a file; None: it is not there."""
        for prefix in self.prefixes:
            pattern = re.escape(prefix)
            if all(any(re.match(pattern + mark, name) for name in names) for mark in self.marks):
                return prefix
        return None


def renamed(
    name: str, renames: Sequence[tuple[str, str]], joined: Mapping[str, tuple[str, ...]] | None = None
) -> Parameters:
    """A tensor's name by patterns and what they become, one after the other; `joined` ends hold three in one."""
    for pattern, new in renames:
        name = re.sub(pattern, new, name)
    for old, parts in (joined or {}).items():
        if old in name:
            return tuple((name.replace(old, part), form) for part, form in zip(parts, THIRDS, strict=True))
    return ((name, "whole"),)


def count(shapes: Shapes, pattern: str) -> int:
    """How many blocks there are, whose numbers the pattern finds; ValueError where they have gaps or are too many."""
    found = {int(match[1]) for match in map(re.compile(pattern).match, shapes) if match}
    if found != set(range(len(found))) or len(found) > MOST_BLOCKS:
        raise ValueError(f"the numbers of {pattern} have gaps")
    return len(found)

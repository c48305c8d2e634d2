"""Networks with the tensor names of their original release, as in ComfyUI's files: detection, config, renaming."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from mezzotint.families.loading.original_names import THIRDS, Form

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]  # by tensor name of one network, without the prefix
Config: TypeAlias = Mapping[str, object]
Parameters: TypeAlias = tuple[tuple[str, Form], ...]  # names in the network, and the part of the tensor that each takes

MOST_BLOCKS = 1000
DENOISER_PREFIXES = (r"model\.diffusion_model\.", r"diffusion_model\.", r"model\.model\.", r"net\.", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalNetwork:
    """A kind of network: how it is recognised in a file, and how its tensors are renamed."""

    name: str  # in messages
    library: str
    class_name: str
    marks: tuple[str, ...]  # patterns of tensors that every such file has
    beside: tuple[str, ...] = ()  # patterns of tensors in its file, of other networks or elsewhere
    absent: tuple[str, ...] = ()  # patterns of tensors, with prefix, of other networks that share the marks
    architectures: tuple[str, ...] = ()  # general.architecture of a GGUF; empty: any or none
    config: Callable[[Shapes], Config]  # from shapes; raises KeyError, IndexError or ValueError for another kind
    renames: Sequence[tuple[str, str]] = ()  # patterns and replacements for names, applied in order
    joined: Mapping[str, Parameters] = field(default_factory=dict)  # by part of the name: fused tensors
    forms: Mapping[str, Form] = field(default_factory=dict)  # by pattern of the new name: forms other than whole
    forms_of: Callable[[Config], Mapping[str, Form]] | None = None  # further forms, by configuration
    dropped: tuple[str, ...] = ()  # prefixes of unused names
    placed: Callable[[str], Parameters] | None = None  # replaces renames, joined and forms if patterns do not suffice
    layers: tuple[str, ...] = ()  # original names of its linear layers, with * for a block's number, to write LoRAs
    prefixes: tuple[str, ...] = ("",)  # patterns, for files shared with other networks

    def of(self, config: Config) -> "OriginalNetwork":
        """The network for a given configuration."""
        return self if self.forms_of is None else replace(self, forms={**self.forms, **self.forms_of(config)})

    def place(self, name: str) -> Parameters:
        """The parameters that a tensor fills, by its name without the prefix; empty if it is not used."""
        if self.placed is not None:
            return self.placed(name)
        if name.startswith(self.dropped):
            return ()
        return formed(renamed(name, self.renames, self.joined), self.forms)

    def place_flat(self, layer: str) -> Parameters:
        """Like `place`, for a layer path written with underscores, as in some LoRAs."""
        renames = [(pattern.replace(r"\.", "_"), new.replace(".", "_")) for pattern, new in self.renames]
        joined = {flat(old): tuple((flat(part), form) for part, form in parts) for old, parts in self.joined.items()}
        forms = {pattern.replace(r"\.", "_"): form for pattern, form in self.forms.items()}
        placed = formed(renamed(f"{layer}_", renames, joined), forms)
        return tuple((name.rstrip("_"), form) for name, form in placed)

    def original_layers(self, layers: Collection[str]) -> dict[str, Parameters]:
        """The original layers that these layers of the network are in, each with all of its layers."""
        numbers = [int(number) for layer in layers for number in re.findall(r"\.(\d+)\.", layer)]
        blocks = [str(block) for block in range(max(numbers, default=0) + 1)]
        found = {}
        for pattern in self.layers:
            for original in [pattern.replace("*", block) for block in blocks] if "*" in pattern else [pattern]:
                placed = tuple((name.removesuffix(".weight"), form) for name, form in self.place(f"{original}.weight"))
                if any(name in layers for name, _ in placed):
                    found[original] = placed
        return found

    def prefix_in(self, names: Collection[str]) -> str | None:
        """Prefix of its tensor names in a file; None if the file does not contain it."""
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
    """The path with underscores instead of dots."""
    return path.replace(".", "_")


def renamed(
    name: str, renames: Sequence[tuple[str, str]], joined: Mapping[str, Parameters] = MappingProxyType({})
) -> Parameters:
    """Apply patterns and replacements to a tensor name in order; `joined` lists the parts of fused tensors."""
    for pattern, new in renames:
        name = re.sub(pattern, new, name)
    for old, parts in joined.items():
        if old in name:
            return tuple((name.replace(old, part), form) for part, form in parts)
    return ((name, "whole"),)


def config_by(config: Callable[[Shapes], Config], renames: Sequence[tuple[str, str]]) -> Callable[[Shapes], Config]:
    """Read a configuration from shapes whose tensors have other names than `config` knows."""
    return lambda shapes: config({renamed(name, renames)[0][0]: shape for name, shape in shapes.items()})


def thirds(query: str, key: str, value: str) -> Parameters:
    """The parts of a fused QKV tensor, stacked along the first axis."""
    return tuple(zip((query, key, value), THIRDS, strict=True))


def formed(placed: Parameters, forms: Mapping[str, Form]) -> Parameters:
    """Give each name the form of the first pattern that matches it."""
    return tuple(
        (name, next((each for pattern, each in forms.items() if re.search(pattern, name)), form))
        for name, form in placed
    )


def count(shapes: Shapes, pattern: str) -> int:
    """Number of blocks, whose indices `pattern` captures; raises ValueError if they have gaps or are too many."""
    found = {int(match[1]) for match in map(re.compile(pattern).match, shapes) if match}
    if found != set(range(len(found))) or len(found) > MOST_BLOCKS:
        raise ValueError(f"the numbers of {pattern} have gaps")
    return len(found)

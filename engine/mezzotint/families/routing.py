"""Where each tensor of a file belongs: names that older versions of the libraries wrote are understood."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.families.family import ModelSources

if TYPE_CHECKING:
    import torch

_OLD_ATTENTION = {".query.": ".to_q.", ".key.": ".to_k.", ".value.": ".to_v.", ".proj_attn.": ".to_out.0."}
_PREFIX = "text_model."  # transformers has had it in CLIP's names, and not


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One network's parameter, and how it is taken out of a file's tensor."""

    component: str
    name: str
    take: "Callable[[torch.Tensor], torch.Tensor]"


def route(
    sources: ModelSources, components: Sequence[str], names: Mapping[str, Collection[str]]
) -> dict[str, tuple[Placed, ...]]:
    """From each tensor name in the components' files to the parameters it fills; tensors of no use are left out."""
    if isinstance(sources.checkpoint, FileCheckpoint):
        return _route_single_file(sources.checkpoint, components, names)
    (component,) = components
    routed: dict[str, tuple[Placed, ...]] = {}
    for path in sources.components[component].files:
        for tensor in read_header(path).tensors:
            known = [alias for alias in _aliases(tensor) if alias in names[component]]
            if known:
                routed[tensor] = (Placed(component=component, name=known[0], take=_whole),)
    return routed


def _whole(tensor: "torch.Tensor") -> "torch.Tensor":
    return tensor


def _aliases(name: str) -> Iterator[str]:
    yield name
    yield _PREFIX + name
    yield name.removeprefix(_PREFIX)
    for old, new in _OLD_ATTENTION.items():
        if old in name:
            yield name.replace(old, new)

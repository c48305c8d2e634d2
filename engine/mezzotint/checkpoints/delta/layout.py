"""What a delta file says: tensors of its own, tensors taken from a trunk, and low-rank products added to those.

Its metadata name the trunk, `FOLDER/COMPONENT` beside the model folder, and list the tensors taken, `OWN` or
`OWN=TRUNK`. The trunk may be a delta file itself. A file that takes nothing needs none: it only is small, since its
tensors have 8 bits, and as fast as others once it is read. Tensors of the file:

    NAME                                  float16, bfloat16 or float32
    NAME, NAME.scale                      int8 (rows, ...), float32 (rows,): NAME in 8 bits, row by row
    NAME.lora_B, .lora_scale, .lora_A     int8 (out, r), float32 (r,), int8 (r, in): B diag(scale) A is added to NAME
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from mezzotint.checkpoints.header import BITS, MAX_TENSORS, Header, TensorSpec, read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.shared_parts import is_shared_place, shared_part
from mezzotint.checkpoints.strict_json import parse_json_list
from mezzotint.errors import ModelRefused

TRUNK, TAKEN = "mezzotint.trunk", "mezzotint.taken"
SCALE = ".scale"
FACTORS = (".lora_B", ".lora_scale", ".lora_A")
MAX_DELTA_RANK = 1024
_MAX_DELTAS = 2  # a delta file whose trunk is a delta file
_FLOATS = ("F16", "BF16", "F32")
_FROM_INT8 = "F16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A delta file, checked against its trunk's header."""

    trunk: Path | None
    own: Sequence[str]  # tensors of the file in full precision
    coded: Sequence[str]  # tensors of the file in 8 bits
    taken: Mapping[str, str]  # names in the trunk, by name
    added: Sequence[str]  # those of them that a product is added to
    header: Header  # of the file as if every tensor were whole and in it


def is_delta(header: Header) -> bool:
    """Whether a header is that of a delta file."""
    return TRUNK in header.metadata or TAKEN in header.metadata


def open_delta(header: Header) -> Delta:
    """Check a delta file by the headers; raises ModelRefused if it or its trunk is invalid."""
    return _opened(header, _MAX_DELTAS)


def trunks_of(path: Path) -> Sequence[Path]:
    """The files that a safetensors file builds on, nearest first: none for most files."""
    header, found = read_header(path), []
    while is_delta(header):
        trunk = open_delta(header).trunk
        if trunk is None:
            break
        found.append(trunk)
        header = read_header(trunk)
    return found


def _opened(header: Header, levels: int) -> Delta:
    path, place = header.path, header.metadata.get(TRUNK)
    if levels == 0:
        raise _refused(path, f"the file builds on more than {_MAX_DELTAS - 1} other delta file, or on itself")
    taken = _taken(path, header.metadata.get(TAKEN))
    if place is None and taken:
        raise _refused(path, f"no {TRUNK}, which names where {len(taken)} tensors are")
    trunk = None if place is None else _trunk_file(path, place)
    base = header if trunk is None else read_header(trunk)
    if trunk is not None and is_delta(base):
        base = _opened(base, levels - 1).header
    factors = {name for name in header.tensors if name.endswith(FACTORS)}
    scales = {name + SCALE for name, spec in header.tensors.items() if spec.dtype == "I8"}
    names = [name for name in header.tensors if name not in factors | scales]
    tensors = {name: _own(header, name) for name in names}
    for own, theirs in taken.items():
        tensors[own] = _from_trunk(header, base, own, theirs)
    added = dict.fromkeys(_layer_of(name) for name in factors)
    for name in added:
        _check_factors(header, name, tensors.get(name) if name in taken else None)
    if len(tensors) > MAX_TENSORS:
        raise _refused(path, f"{len(tensors)} tensors; at most {MAX_TENSORS} are read")
    return Delta(
        trunk=trunk,
        own=[name for name in names if _dtype(header, name) != "I8"],
        coded=[name for name in names if _dtype(header, name) == "I8"],
        taken=taken,
        added=tuple(added),
        header=replace(header, tensors=dict(_laid_out(tensors)), metadata=_plain_metadata(header)),
    )


def _trunk_file(path: Path, place: str) -> Path:
    if not is_shared_place(place):
        raise _refused(path, f"{TRUNK} is {plain(place, 60)}; it must be a folder and a component, such as dit/vae")
    part = path.parent.resolve()
    folder, _ = shared_part(part.parent, part.name, place)
    files = sorted(each for each in folder.iterdir() if each.suffix == ".safetensors" and is_file(each))
    if len(files) != 1:
        raise _refused(path, f"the trunk {plain(folder, 300)} has {len(files)} safetensors files; it must have one")
    return files[0]


def _taken(path: Path, text: str | None) -> dict[str, str]:
    if text is None:
        raise _refused(path, f"no {TAKEN}, which lists the tensors of the trunk")
    taken: dict[str, str] = {}
    for entry in parse_json_list(text.encode(), f"{plain(path, 300)}: {TAKEN}"):
        own, _, theirs = entry.partition("=") if isinstance(entry, str) else ("", "", "")
        if not own or entry == f"{own}=" or "=" in theirs:
            raise _refused(path, f"{TAKEN} has {plain(entry, 60)}; each must be a name, or OWN=TRUNK")
        if own in taken:
            raise _refused(path, f"'{plain(own, 60)}' is taken twice")
        taken[own] = theirs or own
    return taken


def _own(header: Header, name: str) -> TensorSpec:
    spec = header.tensors[name]
    if spec.dtype in _FLOATS:
        return spec
    if spec.dtype != "I8" or not spec.shape:
        raise _refused(
            header.path, f"'{plain(name, 60)}' is {spec.dtype} of shape {spec.shape}; it must be float or int8 by rows"
        )
    _check(header, name + SCALE, "F32", spec.shape[:1])
    return replace(spec, dtype=_FROM_INT8)


def _from_trunk(header: Header, base: Header, own: str, theirs: str) -> TensorSpec:
    if own in header.tensors:
        raise _refused(header.path, f"'{plain(own, 60)}' is taken from the trunk, and in the file too")
    spec = base.tensors.get(theirs)
    if spec is None:
        raise _refused(header.path, f"'{plain(theirs, 60)}' is not in the trunk {plain(base.path, 300)}")
    if spec.dtype not in _FLOATS:
        raise _refused(
            header.path, f"'{plain(theirs, 60)}' of the trunk is {spec.dtype}; only {', '.join(_FLOATS)} can be taken"
        )
    return spec


def _check_factors(header: Header, name: str, taken: TensorSpec | None) -> None:
    up, scale, down = (header.tensors.get(name + suffix) for suffix in FACTORS)
    if taken is None or up is None or scale is None or down is None:
        raise _refused(header.path, f"'{plain(name, 60)}' is not taken, or lacks one of {', '.join(FACTORS)}")
    rank = scale.shape[0] if scale.shape else 0
    if not 1 <= rank <= MAX_DELTA_RANK:
        raise _refused(header.path, f"'{plain(name, 60)}' adds a product of rank {rank}, not 1 to {MAX_DELTA_RANK}")
    rows, columns = up.shape[0] if up.shape else 0, down.shape[-1] if down.shape else 0
    _check(header, name + FACTORS[0], "I8", (rows, rank))
    _check(header, name + FACTORS[1], "F32", (rank,))
    _check(header, name + FACTORS[2], "I8", (rank, columns))
    if rows * columns != prod(taken.shape):
        raise _refused(
            header.path, f"'{plain(name, 60)}' has shape {taken.shape}; the product has shape ({rows}, {columns})"
        )


def _check(header: Header, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    spec = header.tensors.get(name)
    if spec is None or (spec.dtype, spec.shape) != (dtype, shape):
        found = "missing" if spec is None else f"{spec.dtype} of shape {spec.shape}"
        raise _refused(header.path, f"'{plain(name, 60)}' is {found}; it must be {dtype} of shape {shape}")


def _laid_out(tensors: Mapping[str, TensorSpec]) -> Iterable[tuple[str, TensorSpec]]:
    """The tensors one after another: only their sizes mean anything."""
    start = 0
    for name, spec in tensors.items():
        end = start + prod(spec.shape) * BITS[spec.dtype] // 8
        yield name, replace(spec, start=start, end=end)
        start = end


def _plain_metadata(header: Header) -> dict[str, str]:
    return {key: value for key, value in header.metadata.items() if key not in (TRUNK, TAKEN)}


def _dtype(header: Header, name: str) -> str | None:
    spec = header.tensors.get(name)
    return None if spec is None else spec.dtype


def _layer_of(name: str) -> str:
    return name.rpartition(".")[0]


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")

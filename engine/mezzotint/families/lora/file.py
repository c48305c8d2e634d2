"""A LoRA file: its layers by name and shape, validated before any tensor is read (LoRA, arXiv 2106.09685).

LoHa and LoKr files are of the same kind (LyCORIS, arXiv 2309.14859), and so are DoRAs of all three (arXiv 2402.09353)
and OFTs (arXiv 2306.07280).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.checkpoints.foreign_kind import is_pickle_name, pickle_advice
from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import reason
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families.control.control_lora import is_control_lora, patching
from mezzotint.families.foreign import kind_of_file
from mezzotint.families.lora.alphas import WrittenAlphas, written_alphas, written_doras
from mezzotint.families.lora.differences import WeightDifference, differences
from mezzotint.families.lora.dora import MAGNITUDES, first_incomplete, input_magnitudes
from mezzotint.families.lora.keys import DIFFERENCES, Part, Place, parse_key
from mezzotint.families.lora.kinds import ADVICE, Base, base_of, unsupported
from mezzotint.families.lora.lycoris import is_lycoris, shape_of
from mezzotint.families.lora.oft import LARGEST_BLOCK, Rotated, is_oft, rotated_by

LARGEST_FILE = 8 * 2**30  # bytes; for the largest models at rank 256, files are under 4 GiB
LARGEST_RANK = 4096
_DTYPES = ("F16", "BF16", "F32", "F64", "F8_E4M3", "F8_E5M2")
_ALPHA_DTYPES = (*_DTYPES, "I64", "I32")
_NO_FACTORS: tuple[Part, ...] = ("alpha", "bias", *MAGNITUDES)
_ONE_NUMBER: tuple[Part, ...] = ("alpha", "scaled_oft")
_SIDES: dict[Part, tuple[int, ...]] = {
    **dict.fromkeys((*MAGNITUDES, "rescale"), (1, 2, 4)),
    **dict.fromkeys(("oft_blocks", "oft_diag"), (3,)),
    "oft_R": (2,),
    "bias": (1,),
}


Stamp = tuple[str, int, int]  # path, size, mtime: differs if the file is replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraLayer:
    """What is added to one layer: tensors by part, and the shape `(n, k)` or `(n, c, kh, kw)` of the target weight.

    `rank`: divisor of alpha; 0 if nothing is scaled. `is_flat`: k includes the kernel window of a convolution.
    `inputs`: the number of a DoRA's magnitudes if they are of the weight's inputs; 0 if of its outputs, or no DoRA.
    `rotated`: of an OFT; its shape has 0 where it is unknown.
    """

    place: Place
    layer: str
    rank: int
    shape: tuple[int, ...]
    names: Mapping[Part, str]
    is_flat: bool = False
    inputs: int = 0
    rotated: Rotated | None = None

    @property
    def magnitude(self) -> str | None:
        """Name of the tensor of a DoRA's magnitudes; None if the layer is no DoRA."""
        return next((self.names[part] for part in MAGNITUDES if part in self.names), None)

    @property
    def meant_for(self) -> str:
        """The weight that it fits, in words."""
        return f"a weight of shape {self.shape}" if self.rotated is None else self.rotated.meant_for

    def fits(self, shape: Sequence[int]) -> bool:
        """Whether it fits a weight of that shape; linear layers and 1x1 convolutions are stored alike."""
        if self.rotated is not None:
            return self.rotated.fits(shape)
        if self.inputs not in (0, shape[1]):
            return False
        if self.is_flat:
            return self.shape == (shape[0], math.prod(shape[1:]))
        return _without_window(self.shape) == _without_window(tuple(shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraFile:
    """The layers of a LoRA file, before any tensor is read."""

    path: Path
    stamp: Stamp
    header: Header
    layers: tuple[LoraLayer, ...]
    differences: tuple[WeightDifference, ...]
    alphas: Mapping[Place, WrittenAlphas]
    unknown: tuple[str, ...]  # names of tensors that are not recognised, or of a kind that cannot be applied
    base: Base | None  # kind of model that it seems to be for


def open_lora(path: Path, *, controls: bool = False) -> LoraFile:
    """Read a file's header; raises ModelRefused, saying what is wrong or what the file is instead.

    `controls`: whether it may be a control LoRA, whose other tensors are applied elsewhere.
    """
    stamp, header = _stamp(path), _header(path)
    if not controls and is_control_lora({name: spec.shape for name, spec in header.tensors.items()}):
        raise _refused(path, "a control LoRA, which needs a control image: give it with --control IMAGE,model=FILE")
    if controls:
        elsewhere = set(patching(header.tensors))
        left = {name: spec for name, spec in header.tensors.items() if name not in elsewhere}
        header = replace(header, tensors=left)
    if header.bytes > LARGEST_FILE:
        raise _refused(path, f"{size(header.bytes)}; a LoRA has at most {size(LARGEST_FILE)}")
    parts, unknown = _parts(header)
    if not parts:
        raise _refused(path, f"no LoRA but {kind_of_file(header.tensors)}; give a LoRA in safetensors")
    _check_scales(header, unknown)
    whole = tuple(each for (place, layer), names in parts.items() for each in _differences(header, place, layer, names))
    factored = {key: _factored(names) for key, names in parts.items()}
    layers = tuple(_layer(header, place, layer, names) for (place, layer), names in factored.items() if names)
    lacking = first_incomplete(layers, written_doras(header))
    if lacking is not None:
        raise _refused(
            path, f"a DoRA, but '{plain(lacking, 80)}' has no magnitudes beside it; it is damaged, download it again"
        )
    widths = {layer.layer: layer.shape[1] for layer in layers if layer.place == "denoiser"}
    return LoraFile(
        path=path,
        stamp=stamp,
        header=header,
        layers=layers,
        differences=whole,
        alphas=written_alphas(header),
        unknown=unknown,
        base=base_of(widths),
    )


def _stamp(path: Path) -> Stamp:
    try:
        stat = path.stat()
        return str(path.resolve()), stat.st_size, stat.st_mtime_ns
    except (OSError, ValueError) as error:
        raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None


def _header(path: Path) -> Header:
    try:
        return read_header(path)
    except ModelRefused:
        if is_pickle_name(path):
            raise _refused(path, pickle_advice()) from None
        raise


def _parts(header: Header) -> tuple[dict[tuple[Place, str], dict[Part, str]], tuple[str, ...]]:
    """Names by layer and part, and those that are left out; raises ModelRefused if those are most."""
    parts: dict[tuple[Place, str], dict[Part, str]] = {}
    unknown = []
    kind, others = unsupported(header.tensors)
    if kind is not None and (2 * len(others) >= len(header.tensors) or "lora_controlnet" in others):
        raise _refused(header.path, plain(kind, 400))
    for name in header.tensors:
        key = None if name in others else parse_key(name)
        if key is None:
            unknown.append(name)
            continue
        names = parts.setdefault((key.place, key.layer), {})
        if key.part in names:
            raise _refused(
                header.path,
                f"'{plain(names[key.part], 80)}' and '{plain(name, 80)}' are for one layer; it may hold two LoRAs",
            )
        names[key.part] = name
    lone = [place for place, names in parts.items() if names.keys() == {"alpha"}]
    unknown += [parts.pop(place)["alpha"] for place in lone]
    return parts, tuple(unknown)


def _differences(header: Header, place: Place, layer: str, names: Mapping[Part, str]) -> tuple[WeightDifference, ...]:
    try:
        return differences(place, layer, names, header.tensors)
    except ValueError as error:
        name = str(error)
        raise _refused(
            header.path, f"'{plain(name, 80)}' has the shape {header.tensors[name].shape}, which no parameter has"
        ) from None


def _factored(names: Mapping[Part, str]) -> dict[Part, str]:
    """A layer's tensors without whole differences; empty if an alpha alone would be left, which those ignore."""
    left = {part: name for part, name in names.items() if part not in DIFFERENCES}
    return {} if left.keys() <= {"alpha"} else left


def _check_scales(header: Header, unknown: Sequence[str]) -> None:
    """Refuse factors in 8 bits beside tensors that may be their scales: cast as they are, they would be noise."""
    scale = next((name for name in unknown if "scale" in name.rpartition(".")[2]), None)
    if scale is not None and any(spec.dtype.startswith("F8_") for spec in header.tensors.values()):
        raise _refused(header.path, f"factors in 8 bits whose scale ('{plain(scale, 80)}') is not known here: {ADVICE}")


def _layer(header: Header, place: Place, layer: str, names: Mapping[Part, str]) -> LoraLayer:
    specs = {part: header.tensors[name] for part, name in names.items()}
    for part, spec in specs.items():
        _check_spec(header.path, names[part], part, spec)
    shapes: dict[Part, tuple[int, ...]] = {part: spec.shape for part, spec in specs.items() if part not in _NO_FACTORS}
    first = plain(names[next(iter(shapes or names))], 80)
    if len({_kind(part) for part in shapes}) > 1:
        raise _refused(header.path, f"'{first}' has factors of another kind beside it; it may hold two LoRAs")
    rotated = None
    is_lycoris_layer = is_lycoris(shapes)
    try:
        if is_oft(shapes):
            rotated = rotated_by(shapes)
            rank, shape = 0, rotated.shape
        else:
            rank, shape = shape_of(shapes) if is_lycoris_layer else _lora_shape(shapes)
    except KeyError as missing:
        raise _refused(header.path, f"'{first}' has no {missing} beside it") from None
    except ValueError:
        written = " x ".join(map(str, shapes.values()))
        raise _refused(header.path, f"the factors of '{first}' do not fit together: {written}") from None
    if rotated is not None:
        _check_rotated(header.path, rotated, first, names)
    try:
        inputs = input_magnitudes({part: specs[part].shape for part in MAGNITUDES if part in specs}, shape)
    except ValueError as error:
        raise _refused(header.path, f"the magnitudes of the DoRA beside '{first}' do not fit: {error}") from None
    if rank > LARGEST_RANK:
        raise _refused(header.path, f"'{first}' has the rank {rank}; a LoRA has a rank up to {LARGEST_RANK}")
    is_flat = is_lycoris_layer and len(shape) == 2
    return LoraLayer(
        place=place, layer=layer, rank=rank, shape=shape, names=names, is_flat=is_flat, inputs=inputs, rotated=rotated
    )


def _kind(part: Part) -> str:
    return part.partition("_")[0] if is_lycoris([part]) else "oft" if is_oft([part]) else "lora"


def _check_rotated(path: Path, rotated: Rotated, first: str, names: Mapping[Part, str]) -> None:
    if any(part in names for part in MAGNITUDES):
        raise _refused(path, f"'{first}' is an OFT with a DoRA's magnitudes, which cannot be applied here: {ADVICE}")
    if rotated.size > LARGEST_BLOCK:
        raise _refused(path, f"'{first}' has blocks of {rotated.size}; an OFT has blocks of up to {LARGEST_BLOCK}")


def _lora_shape(shapes: Mapping[Part, tuple[int, ...]]) -> tuple[int, tuple[int, ...]]:
    """Rank and weight shape; raises KeyError naming a missing part, ValueError if the factors do not fit."""
    down, up, mid = shapes["down"], shapes["up"], shapes.get("mid")
    rank = down[0]
    fits = up[1] == rank and (len(up) == 2 or up[2:] == (1, 1))
    if mid is not None:
        fits = fits and len(mid) == 4 and mid[:2] == (rank, rank) and down[2:] in ((), (1, 1))
    if not fits:
        raise ValueError(down, up, mid)
    window = down[2:] if mid is None else mid[2:]
    return rank, (up[0], down[1], *window)


def _check_spec(path: Path, name: str, part: Part, spec: TensorSpec) -> None:
    if part in _ONE_NUMBER:
        if spec.dtype not in _ALPHA_DTYPES or sum(spec.shape) > max(1, len(spec.shape)) or 0 in spec.shape:
            raise _refused(path, f"'{plain(name, 80)}' is {spec.dtype} of shape {spec.shape}; an alpha is one number")
        return
    if spec.dtype not in _DTYPES:
        raise _refused(path, f"'{plain(name, 80)}' is {spec.dtype}; a LoRA is of {', '.join(_DTYPES)}")
    sides = _SIDES.get(part, (2, 4))
    if part == "oft_blocks" and len(spec.shape) == 4:
        raise _refused(path, f"a BOFT ({plain(name, 80)}), which cannot be applied here: {ADVICE}")
    if len(spec.shape) not in sides or 0 in spec.shape:
        wanted = " or ".join(map(str, sides)).replace(" or ", ", ", len(sides) - 2)
        raise _refused(path, f"'{plain(name, 80)}' has the shape {spec.shape}; it has {wanted} sides")


def _without_window(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[:2] if shape[2:] == (1, 1) else shape


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")

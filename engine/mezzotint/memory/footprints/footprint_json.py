"""Compact JSON serialization of footprints, with blocks as rows of numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from mezzotint.memory.footprints.footprint import (
    ALIKE,
    BlockFootprint,
    ComponentFootprint,
    ModelFootprint,
    Role,
    ScalingLaw,
    Scheme,
)
from mezzotint.protocol import GuidancePasses

_SCHEMES: tuple[Scheme, ...] = tuple(scheme for scheme in get_args(Scheme) if scheme not in ALIKE)
_LAW = (
    "constant",
    "per_item",
    "per_position",
    "per_position_squared",
    "once_per_position",
    "once_per_position_squared",
)
_PLAIN = ("name", "role", "class_name", "float32", "kept_text", "shared")
_MODEL = ("id", "family", "vae_factor", "text_tokens", "width", "height", "steps", "guided")


def model_to_json(model: ModelFootprint) -> dict[str, Any]:
    """Serialize a model's footprint for `model_from_json`."""
    plain = {key: getattr(model, key) for key in _MODEL}
    return {**plain, "halves": list(model.halves), "components": [component_to_json(part) for part in model.components]}


def model_from_json(data: Mapping[str, Any]) -> ModelFootprint:
    """Deserialize a model's footprint; raises ValueError if it is invalid."""
    try:
        return ModelFootprint(
            **{key: _is(data[key], type_) for key, type_ in _types(ModelFootprint, _MODEL).items()},
            halves=_halves(data.get("halves", ["batched", "sequential"])),
            components=tuple(component_from_json(part) for part in data["components"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"invalid footprint: {error!r}") from error


def _halves(data: Sequence[object]) -> tuple[GuidancePasses, ...]:
    if not data or not set(data) <= set(get_args(GuidancePasses)):
        raise ValueError(f"invalid footprint: halves {data!r}")
    return tuple(data)  # type: ignore[arg-type]


def component_to_json(part: ComponentFootprint) -> dict[str, Any]:
    """Serialize a component's footprint for `component_from_json`."""
    return {
        **{key: getattr(part, key) for key in _PLAIN},
        "live": law_to_json(part.live),
        "work": law_to_json(part.work),
        "outside": _row(part.outside),
        "blocks": [[block.name, *_row(block.bytes)] for block in part.blocks],
        **({"given": part.given} if part.given else {}),
    }


def component_from_json(data: Mapping[str, Any]) -> ComponentFootprint:
    """Deserialize a component's footprint; raises ValueError if it is invalid."""
    try:
        if type(data["blocks"]) is not list:
            raise ValueError(f"invalid footprint: blocks {data['blocks']!r}")
        blocks = tuple(BlockFootprint(name=_is(row[0], str), bytes=_sizes(row[1:])) for row in data["blocks"])
        if data["role"] not in get_args(Role):
            raise ValueError(f"invalid footprint: role {data['role']!r}")
        return ComponentFootprint(
            **{key: _is(data[key], type_) for key, type_ in _types(ComponentFootprint, _PLAIN).items()},
            blocks=blocks,
            outside=_sizes(data["outside"]),
            live=law_from_json(data["live"]),
            work=law_from_json(data["work"]),
            given=float(_is(data.get("given", 0.0), int, float)),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"invalid footprint: {error!r}") from error


def _row(sizes: Mapping[Scheme, int]) -> list[int | None]:
    return [sizes.get(scheme) for scheme in _SCHEMES]


def _sizes(row: Sequence[object]) -> dict[Scheme, int]:
    if len(row) != len(_SCHEMES) or row[0] is None:
        raise ValueError(f"invalid footprint: {row}")
    sizes = {scheme: _is(size, int) for scheme, size in zip(_SCHEMES, row, strict=True) if size is not None}
    return sizes | {scheme: sizes[other] for scheme, other in ALIKE.items() if other in sizes}


def law_to_json(law: ScalingLaw) -> list[float]:
    """Serialize a law."""
    return [float(f"{getattr(law, term):.7g}") for term in _LAW]


def law_from_json(data: Sequence[object]) -> ScalingLaw:
    """Deserialize a law; raises ValueError if it is invalid."""
    if len(data) != len(_LAW):
        raise ValueError(f"invalid footprint: {data}")
    return ScalingLaw(**{term: float(_is(value, int, float)) for term, value in zip(_LAW, data, strict=True)})


def _types(owner: type, keys: Sequence[str]) -> dict[str, type]:
    """Types of the plain fields; a role is a string."""
    plain = {"int": int, "bool": bool, int: int, bool: bool}
    return {key: plain.get(owner.__annotations__[key], str) for key in keys}


def _is(value: Any, *types: type) -> Any:  # noqa: ANN401  of one of the types
    if type(value) not in types or (not isinstance(value, str) and value < 0):
        raise ValueError(f"invalid footprint: {value!r} is not a {types[0].__name__}")
    return value

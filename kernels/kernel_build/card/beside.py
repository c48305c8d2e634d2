"""Compare the rows of a part: ratios to peers, whichever process measured them, and wrong results."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernel_build.card.measured import OURS

FLASH, INT8 = "mezzotint flash", "mezzotint int8"
_BESIDE_FLASH = (INT8, *(f"mezzotint {name}" for name in ("flash-fp16", "int8-all", "int8-fp8")))
LINEAR_ATTENTION = "mezzotint linear attention"
_EXACT, _ROUNDED = 0.02, 0.05  # allowed error of 16-bit attention, and of anything in 8 or 4 bits
_INT4, _INT4_INPUTS = 0.2, ("int4-rot", "svdquant", "nvfp4", "w4a4", "4 bits of both")  # inputs, too
_PEERS = ("torch linear", "torch convolution", "copy", "diffusers")

Rows = Sequence[Mapping[str, Any]]


def with_peers(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows of a part with the ratios to their peers added."""
    return [{**row, "measured": {**row["measured"], **_found(row["measured"], rows)}} for row in rows]


def is_wrong(row: Mapping[str, Any]) -> str | None:
    """Return why a result of ours is wrong, or None if it is within the allowed error."""
    measured = row["measured"]
    error, name = measured.get("error"), measured.get("implementation", "")
    if error is None or OURS not in name:
        return None
    allowed = _EXACT if "head_dim" in measured and "int8" not in name else _ROUNDED
    allowed = _INT4 if any(word in name for word in _INT4_INPUTS) else allowed
    return None if error <= allowed else f"error {error:.1e}, and {allowed:g} is allowed"


def _found(measured: Mapping[str, Any], rows: Rows) -> dict[str, float | None]:
    if "bound_seconds" in measured:
        return {"times_bound": _over(measured["seconds"], measured["bound_seconds"])}
    if "implementation" not in measured:
        return {}
    return _of_attention(measured, rows) if "head_dim" in measured else _of_products(measured, rows)


def _of_attention(measured: Mapping[str, Any], rows: Rows) -> dict[str, float | None]:
    times, name = _times(measured, rows), measured["implementation"]
    best = min((time for peer, time in times.items() if peer.startswith("sdpa ")), default=None)
    ours = measured["milliseconds"]
    found = {"ratio": None if name.startswith("sdpa ") else _over(best, ours)}
    if name == LINEAR_ATTENTION:
        found["times_torch"] = _over(times.get("torch"), ours)
    return found | ({"times_flash": _over(times.get(FLASH), ours)} if name in _BESIDE_FLASH else {})


def _of_products(measured: Mapping[str, Any], rows: Rows) -> dict[str, float | None]:
    times, name = _times(measured, rows), measured["implementation"]
    beside = next((times[peer] for peer in _PEERS if peer in times), None)
    found = {"ratio": None if name in _PEERS else _over(beside, measured["milliseconds"])}
    if name == f"{INT8}, 3 LoRAs":
        found["with_loras"] = _over(measured["milliseconds"], times.get(INT8))
    return found


def _times(measured: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the milliseconds of each implementation on the same shape."""
    beside = [row["measured"] for row in rows if row["measured"].get("shape") == measured["shape"]]
    return {each["implementation"]: each["milliseconds"] for each in beside if each["milliseconds"] is not None}


def _over(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other

"""Convert a measurement of streaming to a row of the results table."""

from collections.abc import Mapping
from typing import Any

from kernel_build.results import Place, Row, measured_row

GB = 2**30


def row_of(measured: Mapping[str, Any], place: Place) -> Row:
    """Return the row of one rate."""
    return measured_row(what_of(measured), _figure(measured), place)


def what_of(measured: Mapping[str, Any]) -> str:
    """Return what was measured: the limit and the copy rate."""
    rate, limit = measured["rate"], measured["limit_bytes"]
    copies = "as fast as the link is" if rate is None else f"slowed to {rate / 1e9:g} GB/s"
    return f"FLUX.1's shape in bfloat16, {limit / GB:g} GB, copies {copies}: mezzotint"


def _figure(measured: Mapping[str, Any]) -> str:
    seconds, bound = measured["seconds"], measured["bound_seconds"]
    share = measured["resident_bytes"] / measured["weights_bytes"]
    parts = [f"{seconds:.3f} s a pass, {share:.0%} of the weights stay"]
    if bound is not None:
        parts.append(f"{seconds / bound:.2f} times the bound of {bound:.3f} s")
    return ", ".join([*parts, f"computing alone {measured['compute_seconds']:.3f} s", "random weights"])

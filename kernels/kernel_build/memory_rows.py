"""Convert a measurement under a memory limit to a row of the results table."""

from collections.abc import Mapping
from typing import Any

from kernel_build.results import Place, Row, measured_row

GB = 2**30


def row_of(measured: Mapping[str, Any], place: Place) -> Row:
    """Return the row; the GPU's name includes the limit."""
    limit = measured["limit_bytes"]
    gpu = "" if limit is None else f"{place.gpu} capped to {limit / GB:g} GB"
    return measured_row(what_of(measured), _figure(measured), place, gpu)


def what_of(measured: Mapping[str, Any]) -> str:
    """Return what was measured: model and method."""
    return f"{_model(measured)}: {measured['method']}"


def _model(measured: Mapping[str, Any]) -> str:
    limit = measured["limit_bytes"]
    named = {
        "sdxl": "SDXL base",
        "sdxl+sdxl-refiner": "SDXL base + refiner",
        "sdxl int8": "SDXL base in int8",
        "sdxl int4": "SDXL base in NF4",
    }
    size = f"{measured['width']}x{measured['height']}"
    return f"{named.get(measured['model'], measured['model'])}, {size}, " + (
        "all resident" if limit is None else f"{limit / GB:g} GB"
    )


def _figure(measured: Mapping[str, Any]) -> str:
    if measured["measured_bytes"] is None:
        return f"not measured ({measured['problem']})"
    peak, predicted = measured["measured_bytes"], measured["predicted_bytes"]
    parts = [f"peak {peak / GB:.2f} GB"]
    if predicted is not None:
        parts.append(f"predicted {predicted / GB:.2f} GB ({100 * (peak / predicted - 1):+.0f} %)")
    if measured["within_limit"] is False:
        parts.append("ABOVE the limit")
    if measured["seconds"] is not None:
        parts.append(f"{measured['seconds']:.2f} s")
    if measured["ratio"] is not None:
        parts.append(f"{measured['ratio']:.2f} times all resident")
    if measured["precision"]:
        parts.append(measured["precision"])
    parts += measured["recoveries"]
    return ", ".join([*parts, f"{measured['weights']} weights"])

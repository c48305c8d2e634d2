"""Convert a row of `mezzotint bench attention --json` (one implementation, one shape) to a row of the results table."""

from collections.abc import Mapping
from typing import Any

from kernel_build.results import Place, Row, measured_row

OURS = "mezzotint flash"
_MEGABYTE = 2**20


def row_of(measured: Mapping[str, Any], place: Place) -> Row:
    """Return the table row."""
    return measured_row(f"{measured['shape']}: {measured['implementation']}", _figure(measured), place)


def _figure(measured: Mapping[str, Any]) -> str:
    sizes = "b{batch} h{heads} {nq}x{nk} d{head_dim} {dtype}".format_map(measured)
    if measured["milliseconds"] is None:
        return f"{sizes}: does not run ({measured['problem']})"
    parts = [f"{measured['milliseconds']:.4f} ms", f"{measured['tflops']:.4g} TFLOP/s"]
    if measured["ratio"] is not None:
        parts.append(f"{measured['ratio']:.2f} times the best SDPA")
    if measured.get("times_torch") is not None:
        parts.append(f"{measured['times_torch']:.2f} times torch")
    if measured.get("times_flash") is not None:
        parts.append(f"{measured['times_flash']:.2f} times {OURS}")
    if measured["peak_bytes"] is not None:
        parts.append(f"{measured['peak_bytes'] / _MEGABYTE:.0f} MB beside the inputs")
    if measured["error"] is not None:
        parts.append(f"error {measured['error']:.1e}")
    return f"{sizes}: {', '.join(parts)}"

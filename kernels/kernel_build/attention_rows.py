"""What `mezzotint bench attention --json` says of one implementation on one shape, as a row of the table of results."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from kernel_build.results import TARGETS, Place, Row

OURS, INT8 = "mezzotint flash", "mezzotint int8"
_MEGABYTE = 2**20


def row_of(measured: Mapping[str, Any], plain_times: MutableMapping[str, float], place: Place) -> Row:
    """The row; `plain_times` remembers our plain kernel's milliseconds of each shape, for the int8 row that follows."""
    shape, implementation, time = measured["shape"], measured["implementation"], measured["milliseconds"]
    if implementation == OURS and time is not None:
        plain_times[shape] = time
    what = f"{shape}: {implementation}"
    return Row(
        what=what,
        target=next((target.target for target in TARGETS if target.what == what), ""),
        figure=_figure(measured, plain_times.get(shape)),
        gpu=place.gpu,
        commit=place.commit,
        date=place.date,
        command=place.command,
    )


def _figure(measured: Mapping[str, Any], plain_time: float | None) -> str:
    sizes = "b{batch} h{heads} {nq}x{nk} d{head_dim} {dtype}".format_map(measured)
    if measured["milliseconds"] is None:
        return f"{sizes}: does not run ({measured['problem']})"
    parts = [f"{measured['milliseconds']:.4f} ms", f"{measured['tflops']:.4g} TFLOP/s"]
    if measured["ratio"] is not None:
        parts.append(f"{measured['ratio']:.2f} times the best SDPA")
    if measured["implementation"] == INT8 and plain_time is not None:
        parts.append(f"{plain_time / measured['milliseconds']:.2f} times {OURS}")
    if measured["peak_bytes"] is not None:
        parts.append(f"{measured['peak_bytes'] / _MEGABYTE:.0f} MB beside the inputs")
    if measured["error"] is not None:
        parts.append(f"error {measured['error']:.1e}")
    return f"{sizes}: {', '.join(parts)}"

"""Convert a row of `mezzotint bench linear --json` (one implementation, one shape) to a row of the results table."""

from collections.abc import Mapping
from typing import Any

from kernel_build.results import Place, Row, measured_row


def row_of(measured: Mapping[str, Any], place: Place) -> Row:
    """Return the table row."""
    what = f"{measured['shape']}: {measured['implementation']}"
    return measured_row(what, _figure(measured), place)


def _figure(measured: Mapping[str, Any]) -> str:
    sizes = f"{measured['rows']}x{measured['columns']}"
    if measured["outputs"] is not None:
        sizes += f" to {measured['outputs']}"
    sizes += f" {measured['dtype']}"
    if measured["milliseconds"] is None:
        return f"{sizes}: does not run ({measured['problem']})"
    parts = [f"{measured['milliseconds']:.4f} ms"]
    if measured["tops"] is not None:
        parts.append(f"{measured['tops']:.4g} TOP/s")
        if measured["ratio"] is not None:
            peer = "torch convolution" if "convolution" in measured["implementation"] else "torch linear"
            parts.append(f"{measured['ratio']:.2f} times {peer}")
    if measured["gigabytes"] is not None:
        parts.append(f"{measured['gigabytes']:.4g} GB/s")
        if measured["ratio"] is not None:
            parts.append(f"{100 * measured['ratio']:.0f} % of a copy")
    if measured["with_loras"] is not None:
        parts.append(f"{measured['with_loras']:.2f} times the time without LoRAs")
    if measured["error"] is not None:
        parts.append(f"error {measured['error']:.1e}")
    return f"{sizes}: {', '.join(parts)}"

"""Convert a row of the benchmark of decoding (one implementation, one shape) to a row of the results table."""

from collections.abc import Mapping
from typing import Any

from kernel_build.results import Place, Row, measured_row


def row_of(measured: Mapping[str, Any], place: Place) -> Row:
    """Return the table row."""
    return measured_row(f"{measured['shape']}: {measured['implementation']}", _figure(measured), place)


def _figure(measured: Mapping[str, Any]) -> str:
    if measured["milliseconds"] is None:
        return f"{measured['dtype']}: does not run ({measured['problem']})"
    parts = [f"{measured['milliseconds']:.4g} ms"]
    if measured.get("ratio") is not None:
        parts.append(f"{measured['ratio']:.2f} times as fast as diffusers'")
    parts.append(f"error {measured['error']:.1e}")
    return f"{measured['dtype']}: {', '.join(parts)}"

"""Calibration learned on a device: allocation overhead, copy rates and forward pass times."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeGuard, get_args

from mezzotint.atomic import atomic_write
from mezzotint.errors import StorageError
from mezzotint.memory.footprints.footprint import Role, Scheme

FILE = "memory.json"
# Ratio of published to traced peaks: decoders on an RTX 4090 1.18 to 1.22; transformers 1.1 to 1.3.
CONVOLUTION, ATTENTION = 1.25, 1.2
_LEAST, _MOST = 1.0, 4.0  # factors outside are measurement errors
# Ratio of published reserved to allocated peaks: 1.03 to 1.24. Anything beyond is memory that was not needed.
_MOST_HELD = 1.25
_LEAST_TIME, _MOST_TIME = 0.1, 10.0  # the same for times, whose estimates are less certain
_LARGEST = 4 * 2**20  # limit of the file in bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Correction factors for predictions, and measured rates."""

    allocated: Mapping[str, float] = field(default_factory=dict)  # allocated over live memory, by family/role
    held: Mapping[str, float] = field(default_factory=dict)  # reserved over allocated (fragmentation), by family/role
    times: Mapping[str, float] = field(default_factory=dict)  # measured over expected pass times, by family/role/scheme
    reserved: float = 1.05  # default of `held` until it is measured
    copy_rate: float | None = None  # measured bytes per second; None: not measured yet
    pageable_rate: float | None = None
    disk_rate: float | None = None

    def factor(self, family: str, role: Role, class_name: str) -> float:
        """Return the ratio of reserved to live memory."""
        is_convolutional = role == "vae" or class_name.startswith(("UNet", "ControlNet", "T2IAdapter"))
        key, usual = _key(family, role), CONVOLUTION if is_convolutional else ATTENTION
        return self.allocated.get(key, usual) * self.held.get(key, self.reserved)

    def learned(
        self, family: str, role: Role, *, live_bytes: float, measured_bytes: float, held_bytes: float | None = None
    ) -> "Calibration":
        """Return a calibration updated with a measured activation peak; `live_bytes` is the footprint's prediction.

        `held_bytes` is what the allocator reserved for them. Implausible measurements are ignored.
        """
        if live_bytes <= 0 or not math.isfinite(measured_bytes):
            return self
        key, factor = _key(family, role), measured_bytes / live_bytes
        if not _LEAST <= factor <= _MOST:
            return self
        held = dict(self.held)
        if held_bytes is not None and held_bytes >= measured_bytes:
            held[key] = min(held_bytes / measured_bytes, _MOST_HELD)
        return replace(self, allocated={**self.allocated, key: factor}, held=held)

    def time_factor(self, family: str, role: Role, scheme: Scheme) -> float:
        """Return the ratio of measured to expected pass time; averages other schemes if this one was not measured."""
        lead = f"{_key(family, role)}/"
        known = self.times.get(lead + scheme)
        if known is not None:
            return known
        others = [factor for name, factor in self.times.items() if name.startswith(lead)]
        return math.fsum(others) / len(others) if others else 1.0

    def has_timed(self, family: str, role: Role, scheme: Scheme) -> bool:
        """Whether forward passes of such networks were measured."""
        return f"{_key(family, role)}/{scheme}" in self.times

    def timed(self, family: str, role: Role, scheme: Scheme, *, expected: float, measured: float) -> "Calibration":
        """Return a calibration updated with a measured pass time; `expected` includes the current time factor.

        A known factor moves half of the way, so that one slow run does not count forever. Implausible measurements are
        ignored.
        """
        if not (expected > 0 and math.isfinite(expected) and math.isfinite(measured)):
            return self
        before, known = self.time_factor(family, role, scheme), self.has_timed(family, role, scheme)
        factor = before * measured / expected
        if not _LEAST_TIME <= factor <= _MOST_TIME:
            return self
        now = math.sqrt(before * factor) if known else factor
        return replace(self, times={**self.times, f"{_key(family, role)}/{scheme}": now})


def exact_calibration(families: Iterable[str]) -> Calibration:
    """Calibration of a simulated device, which counts live memory only."""
    return Calibration(allocated={_key(name, role): 1.0 for name in families for role in get_args(Role)}, reserved=1.0)


def _key(family: str, role: Role) -> str:
    return f"{family}/{role}"


def load_calibration(folder: Path, device_name: str) -> Calibration:
    """Load a device's calibration; an empty one if the file is missing or damaged."""
    stored = _read(folder / FILE).get(device_name)
    return _decoded(stored) if isinstance(stored, dict) else Calibration()


def store_calibration(folder: Path, device_name: str, calibration: Calibration) -> bool:
    """Store a device's calibration, keeping those of others; False if the file cannot be written."""
    path = folder / FILE
    kept = {**_read(path), device_name: {f.name: getattr(calibration, f.name) for f in fields(calibration)}}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps(kept, allow_nan=False, indent=1, default=dict).encode(), overwrite=True)
    except (OSError, StorageError, ValueError):
        return False
    return True


def _read(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _decoded(stored: dict[str, object]) -> Calibration:
    reserved = stored.get("reserved")
    return Calibration(
        allocated=_factors(stored.get("allocated"), 0.5, _MOST),
        held=_factors(stored.get("held"), 1.0, _MOST_HELD),
        times=_factors(stored.get("times"), _LEAST_TIME, _MOST_TIME),
        reserved=float(reserved) if _is_number(reserved, 1.0, 3.0) else Calibration().reserved,
        copy_rate=_rate(stored.get("copy_rate")),
        pageable_rate=_rate(stored.get("pageable_rate")),
        disk_rate=_rate(stored.get("disk_rate")),
    )


def _factors(stored: object, low: float, high: float) -> dict[str, float]:
    factors = stored.items() if isinstance(stored, dict) else ()
    return {str(name): float(value) for name, value in factors if _is_number(value, low, high)}


def _rate(value: object) -> float | None:
    return float(value) if _is_number(value, 1e6, 1e13) else None


def _is_number(value: object, low: float, high: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

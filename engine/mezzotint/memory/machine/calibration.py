"""What was learned of a device: what it allocates for live memory, how fast it copies and how long passes take."""

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
# Of published peaks over traced ones: decoders on an RTX 4090 1.18 to 1.22; transformers 1.1 to 1.3.
CONVOLUTION, ATTENTION = 1.25, 1.2
_LEAST, _MOST = 1.0, 4.0  # a factor outside is a mistake in measuring
# Of published peaks that an allocator held over those allocated: 1.03 to 1.24. More is memory that it had no need for.
_MOST_HELD = 1.25
_LEAST_TIME, _MOST_TIME = 0.1, 10.0  # the same of times, which are expected with less certainty
_LARGEST = 4 * 2**20  # bytes of the file


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Factors on what is predicted."""

    allocated: Mapping[str, float] = field(default_factory=dict)  # over live memory, by family/role
    held: Mapping[str, float] = field(default_factory=dict)  # over allocated: pieces between that nobody can use
    times: Mapping[str, float] = field(default_factory=dict)  # of passes over those expected, by family/role/scheme
    reserved: float = 1.05  # the same, of what has not been measured
    copy_rate: float | None = None  # bytes per second as measured; None: not yet
    pageable_rate: float | None = None
    disk_rate: float | None = None

    def factor(self, family: str, role: Role, class_name: str) -> float:
        """Of what the device gives away over what is live."""
        key, usual = _key(family, role), CONVOLUTION if role == "vae" or "UNet" in class_name else ATTENTION
        return self.allocated.get(key, usual) * self.held.get(key, self.reserved)

    def learned(
        self, family: str, role: Role, *, live_bytes: float, measured_bytes: float, held_bytes: float | None = None
    ) -> "Calibration":
        """With a measured peak of activations, beside what was live by the footprint; nonsense changes nothing.

        `held_bytes` is what the allocator held for them.
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
        """Of a pass over what is expected of the device; where another precision alone was measured, as of that."""
        lead = f"{_key(family, role)}/"
        known = self.times.get(lead + scheme)
        if known is not None:
            return known
        others = [factor for name, factor in self.times.items() if name.startswith(lead)]
        return math.fsum(others) / len(others) if others else 1.0

    def has_timed(self, family: str, role: Role, scheme: Scheme) -> bool:
        """Whether passes of such networks were measured."""
        return f"{_key(family, role)}/{scheme}" in self.times

    def timed(self, family: str, role: Role, scheme: Scheme, *, expected: float, measured: float) -> "Calibration":
        """With the seconds of a pass beside what was expected of it, as known so far; nonsense changes nothing.

        What is known already moves half of the way: a card that was slow once is not slow for good.
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
    """Of a simulated device, which counts what is live and nothing else."""
    return Calibration(allocated={_key(name, role): 1.0 for name in families for role in get_args(Role)}, reserved=1.0)


def _key(family: str, role: Role) -> str:
    return f"{family}/{role}"


def load_calibration(folder: Path, device_name: str) -> Calibration:
    """What was stored for a device; nothing, and a damaged file, count as nothing learned."""
    stored = _read(folder / FILE).get(device_name)
    return _decoded(stored) if isinstance(stored, dict) else Calibration()


def store_calibration(folder: Path, device_name: str, calibration: Calibration) -> bool:
    """Keep it, beside that of other devices; False where the folder cannot be written, and then it is learned anew."""
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

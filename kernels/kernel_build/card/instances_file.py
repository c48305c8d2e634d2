"""Write the fastest instance of each swept problem to a file: what the library should have chosen."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kernel_build.card.beside import is_wrong
from kernel_build.card.record_file import Record
from kernel_build.results import write_whole

NAME = "instances.json"
SWEEPS = ("sweep-attention", "sweep-linear")
CHOSEN = "mezzotint chooses"


def write_instances(record: Record) -> list[dict[str, Any]]:
    """Write the file next to the results and return its problems."""
    found = [problem for part in SWEEPS for problem in best_instances(record, part)]
    if found:
        words = {"commit": record.commit, "device": record.device.name, "torch": record.device.torch}
        write_whole(record.path.with_name(NAME), json.dumps(words | {"problems": found}, indent=1) + "\n")
    return found


def best_instances(record: Record, part: str) -> Iterator[dict[str, Any]]:
    """Yield for each shape and kind: the fastest instance, the time of the chosen one, and all measurements."""
    groups: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in record.of(part):
        measured = row["measured"]
        name = measured.get("implementation")
        if name is not None and row["outcome"] == "ok" and not is_wrong(row):
            groups.setdefault((measured["shape"], kind_of(name, part)), {})[name] = measured
    for (shape, kind), found in groups.items():
        instances = {name: each["milliseconds"] for name, each in found.items() if not name.startswith(CHOSEN)}
        chosen = next((each for name, each in found.items() if name.startswith(CHOSEN)), None)
        if instances:
            yield _problem(part, shape, kind, instances, chosen)


_SCHEMES = ("int4-lowrank", "int4-codebook", "int4-rot", "svdquant", "fp8")


def kind_of(name: str, part: str) -> str:
    """Return which of a shape's problems an implementation solves."""
    if part == "sweep-linear":
        return next(scheme for scheme in (*_SCHEMES, "int8") if scheme in name or scheme == "int8")
    return next((kind for kind in ("int8-all", "int8-fp8", "int8", "flash-fp16") if kind in name), "16 bits") + (
        ", masked" if "masked" in name else ""
    )


def _problem(
    part: str, shape: str, kind: str, instances: Mapping[str, float], chosen: Mapping[str, Any] | None
) -> dict[str, Any]:
    best = min(instances, key=lambda name: instances[name])
    time = None if chosen is None else chosen["milliseconds"]
    return {
        "part": part,
        "shape": shape,
        "kind": kind,
        "best": best,
        "milliseconds": instances[best],
        "chosen": None if chosen is None else chosen.get("kernel"),
        "chosen_milliseconds": time,
        "chosen_by_best": None if time is None else time / instances[best],
        "all": dict(sorted(instances.items(), key=lambda each: each[1])),
    }

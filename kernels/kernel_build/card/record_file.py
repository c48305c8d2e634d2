"""The results file: everything measured on one device for one commit, rewritten atomically with every row."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kernel_build.card.machine import Device
from kernel_build.card.protocol import Row
from kernel_build.errors import BuildError
from kernel_build.results import write_whole

NAME = "results.json"
FORM = 1  # file format version
_AFRESH = "give another --results DIR, or --again to put it aside and start afresh"


@dataclass(kw_only=True)
class Record:
    """Rows of each part, in order of arrival, and how each part ended."""

    path: Path
    commit: str
    device: Device
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: str, row: Row) -> None:
        """Add a row and save."""
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        made = {"part": part, "device": self.device.name, "date": date, **asdict(row)}
        self.rows = [old for old in self.rows if (old["part"], old["item"]) != (part, row.item)] + [made]
        self.write()

    def end(self, part: str, state: str, problem: str | None, seconds: float) -> None:
        """Record how a part ended and save; seconds accumulate over runs."""
        before = self.parts.get(part, {}).get("seconds", 0)
        self.parts[part] = {"state": state, "problem": problem, "seconds": round(before + seconds, 1)}
        self.write()

    def of(self, part: str) -> list[dict[str, Any]]:
        """Return the rows of a part."""
        return [row for row in self.rows if row["part"] == part]

    def is_complete(self, part: str) -> bool:
        """Whether the part is finished."""
        return bool(self.parts.get(part, {}).get("state") == "complete")

    def write(self) -> None:
        """Write the file atomically."""
        words = {"form": FORM, "commit": self.commit, "device": asdict(self.device)}
        write_whole(self.path, json.dumps(words | {"parts": self.parts, "rows": self.rows}, indent=1) + "\n")


def open_record(folder: Path, commit: str, device: Device, *, again: bool) -> Record:
    """Open the folder's record to continue it. Raises BuildError if it is for another commit or device."""
    path = folder / NAME
    folder.mkdir(parents=True, exist_ok=True)
    fresh = Record(path=path, commit=commit, device=device)
    if not path.exists():
        return fresh
    if again:
        path.replace(_free_name(path))
        return fresh
    found = read_record(folder)
    for what, theirs, ours in (("device", found.device.name, device.name), ("commit", found.commit, commit)):
        if theirs != ours:
            raise BuildError(f"{path} has results of {what} {theirs!r}, and this is {ours!r}: {_AFRESH}")
    if found.device != device:
        raise BuildError(f"{path} has results with torch {found.device.torch}, and this is {device.torch}: {_AFRESH}")
    return found


def read_record(folder: Path) -> Record:
    """Read an existing record. Raises BuildError if the file is not one."""
    path = folder / NAME
    try:
        words: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        if words["form"] != FORM:
            raise BuildError(f"{path} has form {words['form']}, and this reads {FORM}: {_AFRESH}")
        told = words["device"]
        capability = None if told["capability"] is None else (told["capability"][0], told["capability"][1])
        device = Device(
            name=told["name"],
            capability=capability,
            torch=told["torch"],
            cuda=told["cuda"],
            multiprocessors=told.get("multiprocessors"),
        )
        return Record(
            path=path, commit=words["commit"], device=device, parts=dict(words["parts"]), rows=list(words["rows"])
        )
    except FileNotFoundError:
        raise BuildError(f"there are no results in {folder}: make gpu-check ARGS='--results {folder}'") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BuildError(f"{path} is not as it was written ({error!r}): {_AFRESH}") from error


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_suffix(f".{number}.json")).exists():
        number += 1
    return name

"""The folder of a training: its request, state, log, samples and the LoRAs of its epochs."""

import contextlib
import filecmp
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from mezzotint.atomic import atomic_write
from mezzotint.catalog.place import TRAINING_SUFFIX
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.strict_json import parse_json_object, read_json_object
from mezzotint.codec import decode, encode
from mezzotint.errors import ModelRefused, ProtocolError, UsageError
from mezzotint.training_protocol import TrainingRequest
from mezzotint.trouble import storage_error

SCHEMA_VERSION = 1
_LARGEST = 2**20  # bytes of a record


class RunFolder:
    """`NAME.training` beside the LoRA."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, request: TrainingRequest) -> "RunFolder":
        """The folder of a request."""
        return cls(Path(request.output) / f"{request.name}{TRAINING_SUFFIX}")

    @property
    def state(self) -> Path:
        """Everything needed to go on."""
        return self.path / "state.safetensors"

    @property
    def resuming(self) -> str:
        """The command that goes on with it, for messages."""
        return f"`mezzotint train --resume -o {plain(self.path.with_suffix(''), 200)}`"

    @property
    def paused(self) -> Path:
        """The LoRA of the step at which it was paused."""
        return self.path / "epochs" / "paused.safetensors"

    @property
    def regularization(self) -> Path:
        """Images that the model itself has made."""
        return self.path / "regularization" / "reg"  # as datasets name the folder of such images

    @property
    def encoded(self) -> Path:
        """Encoded images and captions."""
        return self.path / "encoded"

    @property
    def _log(self) -> Path:
        return self.path / "log.jsonl"

    @property
    def _record(self) -> Path:
        return self.path / "training.json"

    def create(self, request: TrainingRequest, values: Mapping[str, Any]) -> None:
        """Make the folder; raises UsageError if there is one already."""
        if self._record.exists():
            raise UsageError(
                f"{plain(self.path, 300)} holds a training already: go on with {self.resuming}, choose another name, "
                "or remove the folder"
            )
        try:
            for folder in (self.path, self.path / "epochs", self.path / "samples", self.regularization, self.encoded):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("create", self.path, error) from error
        self.write(request, values)

    def write(self, request: TrainingRequest, values: Mapping[str, Any]) -> None:
        """Write the record, in place of an earlier one."""
        record = {"schema_version": SCHEMA_VERSION, "request": encode(request), **values}
        atomic_write(self._record, json.dumps(record, indent=1).encode(), overwrite=True)

    def change(self, **values: object) -> None:
        """Change values of the record; raises as `read`."""
        request, record = self.read()
        self.write(request, record | values)

    def read(self) -> tuple[TrainingRequest, dict[str, Any]]:
        """Read the record; raises UsageError if there is none, ModelRefused if it is damaged."""
        if not self._record.is_file():
            raise UsageError(f"{plain(self.path, 300)} is not the folder of a training: it has no training.json")
        record = read_json_object(self._record, _LARGEST)
        try:
            datetime.fromisoformat(str(record["started"]))
            return decode(TrainingRequest, record.pop("request")), record
        except (KeyError, TypeError, ValueError, ProtocolError) as error:
            raise ModelRefused(f"{plain(self._record, 300)} is damaged: {plain(error)}") from error

    def epoch(self, name: str, number: int) -> Path:
        """The LoRA of an epoch, from 1."""
        return self.path / "epochs" / f"{name}-{number:04}.safetensors"

    def step_of(self, lora: Path) -> int | None:
        """The step at which this run wrote a file, which is that of an epoch byte for byte; None: others did."""
        for line in self.logged():
            epoch = self.path / "epochs" / Path(str(line.get("path"))).name
            with contextlib.suppress(OSError):
                if "epoch" in line and filecmp.cmp(lora, epoch, shallow=False):
                    return int(line["step"])
        return None

    def sample(self, epoch: int, number: int) -> Path:
        """A sample image; epoch 0 is the model without the LoRA."""
        return self.path / "samples" / f"epoch-{epoch:04}-{number}.png"

    def log(self, line: Mapping[str, Any]) -> None:
        """Append a line to the log."""
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise storage_error("write", self._log, error) from error

    def rewind(self, step: int) -> list[dict[str, Any]]:
        """Drop what was logged after a step, and return the rest; a line that was cut off is dropped, too."""
        kept = [line for line in self.logged() if isinstance(line.get("step"), int) and line["step"] <= step]
        atomic_write(self._log, "".join(json.dumps(line) + "\n" for line in kept).encode(), overwrite=True)
        return kept

    def logged(self) -> Iterator[dict[str, Any]]:
        """The lines of the log; those that were cut off are left out."""
        try:
            lines = self._log.read_bytes().splitlines() if self._log.exists() else []
        except OSError as error:
            raise storage_error("read", self._log, error) from error
        for line in lines:
            with contextlib.suppress(ModelRefused):
                yield parse_json_object(line, self._log)

"""Builds an environment beside the one in use, and proves that it works."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.events import Stop
from mezzotint_setup.payload import Payload, Wheel, requirements
from mezzotint_setup.programs import Failed, build_failure, clean_environment, run
from mezzotint_setup.root import PROVEN, Root, interpreter_in

WINDOW = "window"
_IMPORTS = {WINDOW: "import mezzotint, mezzotint_app.main"}
_ENGINE = "import mezzotint.engine, mezzotint_app.main, torch, diffusers, transformers; torch.ones(2) @ torch.ones(2)"
_IMAGE = ("generate", "a red house by the sea", "--model", "starter-dit", "--steps", "1", "--output")
_OWN_FOLDERS = ("MEZZOTINT_CONFIG", "MEZZOTINT_CACHE", "MEZZOTINT_STATE")


def console_python(python: str = sys.executable) -> Path:
    """The Python that can be asked: Windows starts programs by their icon with pythonw, which says nothing."""
    path = Path(python)
    return path.with_name(re.sub("^pythonw", "python", path.name))


def base_python() -> Path:
    """The Python of environments: on Linux python3.11 and not python3, which becomes another one by an upgrade."""
    return console_python() if sys.platform == "win32" else Path(sys.executable).resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What an environment is made of."""

    root: Root
    payload: Payload
    backend: str
    wheels: Sequence[Wheel]
    folder: Path  # of the wheels
    stop: Stop

    def make(self, part: Path) -> None:
        """Create the environment and install exactly these wheels, without network."""
        wanted = part.with_suffix(".txt")
        links = ("--find-links", self.folder, "--find-links", self.payload.folder / "wheels")
        sync = ("pip", "sync", "-q", "--offline", "--no-index", *links, "--require-hashes", "--python")
        try:
            wanted.write_text(requirements(self.wheels), "utf-8")
            self._uv("venv", "-q", "--relocatable", "--no-project", "--python", base_python(), part)
            self._uv(*sync, interpreter_in(part), wanted)
        except Failed as error:
            raise build_failure(error) from error
        finally:
            wanted.unlink(missing_ok=True)

    def _uv(self, *words: str | Path) -> None:
        environment = clean_environment() | {
            "UV_CACHE_DIR": str(self.root.cache),
            "UV_PYTHON_INSTALL_DIR": str(self.root.python),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_CONFIG": "1",
        }
        run((self.payload.uv, *words), environment, self.stop)

    def prove(self, part: Path) -> tuple[str, ...]:
        """Import everything, make an image in one step, and run the kernels' self-tests; returns what was noticed."""
        python = interpreter_in(part)
        with tempfile.TemporaryDirectory(dir=self.root.path, prefix=".proof-", ignore_cleanup_errors=True) as scratch:
            environment = clean_environment() | {name: str(Path(scratch, name)) for name in _OWN_FOLDERS}
            environment |= {"QT_QPA_PLATFORM": "offscreen"}
            try:
                run((python, "-c", _IMPORTS.get(self.backend, _ENGINE)), environment, self.stop)
                if self.backend == WINDOW:
                    return ()
                command = (python, "-m", "mezzotint")
                run((*command, *_IMAGE, Path(scratch, "proof")), environment, self.stop)
                return self._self_tests(run((*command, "doctor", "--json"), environment, self.stop))
            except Failed as error:
                raise SetupFailed(
                    "proof",
                    f"the new version does not work here, so nothing was switched: {error}",
                    "go on with the version in use, or choose another build; report it with this text",
                ) from error

    def _self_tests(self, report: str) -> tuple[str, ...]:
        """What the report says of the card; slower ways are found by the engine itself, so nothing of it is fatal."""
        if self.backend in ("cpu", "mps"):
            return ()
        try:
            data: dict[str, Any] = json.loads(report[report.index("{") :])
            devices = [device["id"] for device in data["torch"]["devices"]]
            failed = [str(name) for name in data["kernels"]["failed"]]
        except (ValueError, KeyError, TypeError):
            return ("the report of `mezzotint doctor` could not be read",)
        if devices == ["cpu"]:
            return (f"torch finds no card for {self.backend}: update the driver; images are made on the CPU meanwhile",)
        return tuple(f"the kernels' self-test {name} failed: torch's own are used instead" for name in failed)

    def finish(self, part: Path, name: str, environment: Mapping[str, str] = os.environ) -> None:
        """Mark it as complete, with what a repair from inside needs."""
        facts = {
            "version": self.payload.version,
            "backend": self.backend,
            "payload": str(self.payload.folder.absolute()),
            "python": str(console_python(environment.get("MEZZOTINT_SETUP_PYTHON") or sys.executable)),
            "root": str(self.root.path),
            "name": name,
        }
        with (part / PROVEN).open("w", encoding="utf-8") as file:
            json.dump(facts, file)
            file.flush()
            os.fsync(file.fileno())

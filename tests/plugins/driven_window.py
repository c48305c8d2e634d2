"""The real window in a separate process, driven by a script that reports back line by line."""

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDERS = ("MEZZOTINT_CONFIG", "MEZZOTINT_STATE", "MEZZOTINT_CACHE", "MEZZOTINT_MODELS")


def window_environment(folder, **own):
    """Return an environment with separate folders under `folder`, including home, and no desktop settings for Qt."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "XDG_", "WAYLAND"))}
    home, runtime = folder / "home", folder / "runtime"
    home.mkdir()
    runtime.mkdir(mode=0o700)
    folders = {name: str(folder / name.lower()) for name in FOLDERS}
    paths = os.pathsep.join([str(Path(__file__).parent), *inherited.get("PYTHONPATH", "").split(os.pathsep)])
    usual = {
        "HOME": str(home),
        "PYTHONPATH": paths.rstrip(os.pathsep),
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_RUNTIME_DIR": str(runtime),
    }
    return inherited | folders | usual | own


class DrivenWindow:
    """One part of a driver script, and its reports."""

    def __init__(self, driver, part, environment, log):
        self._log = log
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).parent / driver), part],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            text=True,
        )

    def told(self, part):
        """Return the facts reported for that part."""
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue
            facts = json.loads(line)
            assert "failed" not in facts, (facts, self.log())
            if facts.get("part") == part:
                return facts
        raise AssertionError(f"it ended before {part!r}: {self.log()}")

    def log(self):
        return self._log.read_text("utf-8", "replace")[-6000:]

    def kill(self):
        self.process.kill()
        self.process.wait(20)

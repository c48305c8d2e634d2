"""The installation of the engine: what the bootstrap says of this machine, with builds of a small payload."""

import json
import shutil
import sys
from pathlib import Path

from PySide6.QtWidgets import QWidget

from mezzotint_app.processes.setup_process import Bootstrap, maker
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.windows.first_run import FirstRun
from mezzotint_app.windows.settings_dialog import SettingsDialog
from window_stage import Stage

_SETUP = Path(__file__).resolve().parents[2] / "packaging" / "setup" / "mezzotint_setup"
_BUILDS = {"cpu": (389, 1246), "cu126": (2650, 6900), "cu130": (2884, 7400)}  # MB to download and on disk
_IN_USE, _BEFORE = "0.1.0-cpu", "0.0.9-cpu"


def first_run(stage: Stage) -> QWidget:
    """What a person sees who has just installed Mezzotint."""
    page = FirstRun(_looked(stage, first=True))
    page.resize(stage.window.size())
    page.show()
    return page


def settings(stage: Stage) -> QWidget:
    """The versions, and another build."""
    stage.program.setup = _looked(stage, first=False)
    stage.window.dialogs.engine_settings()
    return stage.opened(SettingsDialog)


def _looked(stage: Stage, *, first: bool) -> EngineSetup:
    payload, root = Path.home() / "payload", Path.home() / ".local" / "share" / "mezzotint" / "engine"
    _write_payload(payload)
    if not first:
        _write_versions(root)
    bootstrap = Bootstrap(python=sys.executable, payload=str(payload), root=str(root), first=first)
    program = stage.program
    setup = EngineSetup(bootstrap, maker(bootstrap), program.settings, program.window_state, program)
    setup.begin()
    stage.wait("the bootstrap", setup.facts)
    return setup


def _write_payload(folder: Path) -> None:
    shutil.copytree(_SETUP, folder / _SETUP.name, dirs_exist_ok=True)
    (folder / "locks").mkdir(exist_ok=True)
    for name, (download, disk) in _BUILDS.items():
        wheel = f'{{ url = "https://x/a-1-py3-none-any.whl", size = {download << 20}, hashes = {{ sha256 = "0" }} }}'
        package = f'[[packages]]\nname = "a"\nversion = "1"\nwheels = [{wheel}]\n'
        tool = f"[tool.mezzotint]\ninstalled = {disk << 20}\n"
        (folder / "locks" / f"pylock.{name}.toml").write_text(package + tool)
    (folder / "payload.json").write_text(json.dumps({"version": "0.1.0", "files": {}}))


def _write_versions(root: Path) -> None:
    for name in (_IN_USE, _BEFORE):
        python = root / "versions" / name / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        (root / "versions" / name / ".proven").write_text(json.dumps({"version": name.partition("-")[0]}))
    (root / "current.json").write_text(json.dumps({"format": 1, "version": _IN_USE, "before": _BEFORE}))

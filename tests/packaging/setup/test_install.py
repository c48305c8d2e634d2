"""Versions side by side: built, proven, switched; whatever goes wrong, a version that worked still starts."""

import json
import subprocess

import pytest
from setup_made import command, environment, installer, seal, sha256, write_payload, write_wheel

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.root import Pointer


@pytest.fixture
def newer(tmp_path, server):
    return write_payload(tmp_path / "newer", server.folder, server.url, version="2.0")


def started(root, payload, *words):
    """What the window of the version in use says."""
    done = subprocess.run(command(["start", *words], root, payload), env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_installs_and_starts(made, root, payload):
    assert made.install("cpu") == "1.0-cpu"
    assert [one["event"] for one in made.reporter.told if one["event"] != "progress"] == ["phase"] * 4 + ["done"]
    assert json.loads((root / "current.json").read_text()) == {"format": 1, "version": "1.0-cpu", "before": None}
    assert started(root, payload, "a b.toml") == ["1.0", "a", "b.toml"]


def test_the_first_start_installs_the_window(root, payload):
    assert started(root, payload) == ["1.0", "1"]


def test_an_update_keeps_the_version_before_and_drops_older_ones(made, root, payload, newer):
    made.install("window")
    made.install("cpu")
    assert installer(root, newer).install("cpu") == "2.0-cpu"
    assert made.root.pointer() == Pointer(version="2.0-cpu", before="1.0-cpu")
    assert sorted(path.name for path in made.root.versions.iterdir()) == ["1.0-cpu", "2.0-cpu"]
    assert started(root, newer) == ["2.0"]
    assert made.back() == "1.0-cpu"
    assert started(root, newer) == ["1.0"]


def test_a_broken_update_is_not_switched_to(made, root, payload, newer):
    made.install("cpu")
    (newer / "wheels" / "mezzotint-2.0-py3-none-any.whl").unlink()
    write_wheel(newer / "wheels", "mezzotint", "2.0", {"mezzotint/__init__.py": "raise RuntimeError('broken')"})
    seal(newer, "2.0")
    with pytest.raises(SetupFailed, match="broken") as failure:
        installer(root, newer).install("cpu")
    assert failure.value.code == "proof"
    assert [path.name for path in made.root.versions.iterdir()] == ["1.0-cpu"]
    assert started(root, newer) == ["1.0"]


def test_a_changed_payload_is_refused(made, payload):
    (payload / "uv").write_text("#!/bin/sh\nexit 0")
    with pytest.raises(SetupFailed, match="not what was released"):
        made.install("cpu")


def test_offline_from_a_folder_of_wheels(made, server):
    made.install("cpu", server.folder)
    assert server.faults.asked == []
    next(server.folder.glob("torch*")).write_bytes(b"other")
    with pytest.raises(SetupFailed) as failure:
        made.install("cpu", server.folder)
    assert failure.value.code == "hash"
    next(server.folder.glob("torch*")).unlink()
    with pytest.raises(SetupFailed, match="lacks torch") as failure:
        made.install("cpu", server.folder)
    assert failure.value.code == "missing_wheels"


def test_downloads_serve_another_machine(made, tmp_path, payload, server):
    made.install("cpu")
    server.faults.asked.clear()
    installer(tmp_path / "other", payload).install("cpu", made.root.downloads)
    assert server.faults.asked == []


def test_repair_builds_beside_what_is_broken(made, root, payload):
    made.install("cpu")
    module = next(made.root.folder("1.0-cpu").rglob("mezzotint_app/main.py"))
    module.unlink()
    torch = next(made.root.downloads.glob("torch*"))
    right = sha256(torch)
    torch.write_bytes(bytes(torch.stat().st_size))
    assert made.repair() == "1.0-cpu.2"
    assert sha256(torch) == right
    assert made.repair() == "1.0-cpu"
    assert started(root, payload) == ["1.0"]

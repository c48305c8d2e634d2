"""Installations that cannot succeed: each says the next step, and leaves what worked."""

import errno
import sys

import pytest
from setup_made import installer, seal, write_payload

from mezzotint_setup.errors import Paused, SetupFailed
from mezzotint_setup.events import Stop
from mezzotint_setup.held_file import HeldFile
from mezzotint_setup.root import Root


def code_of(made, backend="cpu"):
    with pytest.raises(SetupFailed) as failure:
        made.install(backend)
    assert failure.value.next_step
    return failure.value.code


def test_without_room_nothing_begins(made, server, monkeypatch):
    monkeypatch.setattr(Root, "free", lambda self: 1_000_000)
    assert code_of(made) == "no_room"
    assert server.faults.asked == []


def test_a_second_installation_at_once_is_refused(made, root):
    made.root.create()
    held = HeldFile.take(root / "lock")
    assert code_of(made) == "busy"
    held.release()
    assert made.install("cpu")


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EROFS, "read_only"), (errno.EACCES, "read_only"), (errno.ENOSPC, "no_room")]
)
def test_a_folder_that_cannot_be_used(made, monkeypatch, number, code):
    def refuse(*_, **__):
        raise OSError(number, "it may not be")

    monkeypatch.setattr("mezzotint_setup.root.Path.touch", refuse)
    assert code_of(made) == code


def test_a_file_in_place_of_the_folder(made, root):
    root.write_text("mine")
    assert code_of(made) == "disk"
    assert root.read_text() == "mine"


def test_a_path_too_long_for_windows(tmp_path):
    with pytest.raises(SetupFailed, match="too long"):
        Root(tmp_path / ("x" * 100), windows=True).create()


@pytest.mark.parametrize("name", ["with a space", "Grüße aus Köln", "x" * 200, "it's & 100%"])
def test_folders_with_any_name(tmp_path, server, name):
    payload = write_payload(tmp_path / name / "payload", server.folder, server.url)
    made = installer(tmp_path / name / "root", payload)
    assert made.install("cpu") == made.root.usable()


@pytest.mark.parametrize(
    ("program", "code"),
    [("echo 'No space left on device'; exit 2", "no_room"), ("echo broken; exit 2", "build"), (None, "build")],
)
def test_a_build_that_fails(made, payload, program, code):
    (payload / "uv").write_text(f"#!/bin/sh\n{program}\n" if program else "no program")
    seal(payload)
    assert code_of(installer(made.root.path, payload)) == code
    assert list(made.root.versions.iterdir()) == []


def test_a_pause_while_it_builds_ends_the_build(made, payload, root):
    (payload / "uv").write_text("#!/bin/sh\nexec sleep 600\n")
    seal(payload)
    stop = Stop()
    building = installer(root, payload, stop=stop)
    phase = building.reporter.phase
    building.reporter.phase = lambda name: (phase(name), stop.ask() if name == "build" else None)
    with pytest.raises(Paused):
        building.install("cpu")
    assert list(Root(root).versions.iterdir()) == []


def report(*devices, failed=()):
    return {"torch": {"devices": [{"id": one} for one in devices]}, "kernels": {"failed": list(failed)}}


@pytest.mark.parametrize(
    ("told", "note"),
    [
        (report("cuda:0", "cpu"), None),
        (report("cpu"), "torch finds no card for cu130"),
        (report("cuda:0", "cpu", failed=["cuda:0 flash"]), "self-test cuda:0 flash failed"),
        ({"other": 1}, "could not be read"),
    ],
)
def test_what_a_card_does_is_told_and_not_fatal(tmp_path, server, root, told, note):
    made = installer(root, write_payload(tmp_path / "payload", server.folder, server.url, report=told))
    assert made.install("cu130") == "1.0-cu130"
    notes = made.reporter.told[-1]["notes"]
    assert (notes == []) if note is None else (note in notes[0])


def test_nothing_to_go_back_to_or_to_repair(made):
    for change, code in ((made.back, "no_before"), (made.repair, "nothing_installed")):
        with pytest.raises(SetupFailed) as failure:
            change()
        assert failure.value.code == code


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses it by itself")
def test_a_version_that_still_runs_is_not_removed(made, tmp_path, server):
    made.install("window")
    running = HeldFile.take(made.root.folder("1.0-window") / ".in_use", shared=True)
    made.install("cpu")
    made.install("cu130")
    assert made.root.works("1.0-window")
    running.release()
    made.install("cu130")
    assert not made.root.folder("1.0-window").exists()

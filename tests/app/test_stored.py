"""A kept document is whole or the old one, whatever happens to its file."""

import json
import os
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError
from mezzotint_app.settings import Settings
from mezzotint_app.stored import MOST, Stored, read, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    name: str = ""
    numbers: tuple[int, ...] = ()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "document.json"


def test_without_a_file_there_are_the_defaults(path):
    assert read(Document, path) == (Document(), None)
    assert not path.parent.exists()


@given(name=st.text(), numbers=st.lists(st.integers(-(2**60), 2**60)))
def test_what_is_written_is_read(tmp_path_factory, name, numbers):
    path = tmp_path_factory.mktemp("stored") / "document.json"
    document = Document(name=name.encode("utf-8", "replace").decode(), numbers=tuple(numbers))
    write(path, document)
    assert read(Document, path) == (document, None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"name": 3}',
        b'{"name": "a", "from_a_newer_version": 1}',
        b"[" * 100_000,
        b'"' + b"x" * (MOST + 1) + b'"',
    ],
    ids=["empty", "cut", "bytes", "list", "type", "newer", "nested", "huge"],
)
def test_a_damaged_file_is_moved_aside_and_told(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    document, told = read(Document, path, now=lambda: 0.0)
    assert document == Document()
    assert str(path) in told
    kept = [each for each in path.parent.iterdir() if each != path]
    assert len(kept) == 1
    assert kept[0].name in told
    assert kept[0].read_bytes() == content
    assert not path.exists()


def test_an_older_settings_file_is_taken(path):
    path.parent.mkdir()
    path.write_text(json.dumps({"theme": "dark"}))
    settings, told = read(Settings, path)
    assert told is None
    assert settings == Settings(theme="dark")


def test_changes_are_gathered_and_then_written(qtbot, path, inline):
    stored = Stored(path, Document(), inline)
    with qtbot.waitSignal(stored.changed):
        stored.change(name="a")
    stored.change(name="b")
    assert stored.value() == Document(name="b")
    assert stored.unsaved()
    assert not path.exists()
    qtbot.waitUntil(lambda: not stored.unsaved())
    assert read(Document, path)[0] == Document(name="b")


def test_the_same_value_again_is_no_change(qtbot, path, inline):
    stored = Stored(path, Document(name="a"), inline)
    with qtbot.assertNotEmitted(stored.changed):
        stored.change(name="a")
    assert not stored.unsaved()


def test_a_full_disk_is_told_and_the_old_file_stays(qtbot, path, inline, monkeypatch):
    write(path, Document(name="old"))

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("mezzotint.atomic.os.fsync", full)
    stored = Stored(path, Document(name="new"), inline)
    with qtbot.waitSignal(stored.failed) as told:
        stored.save()
    assert "disk is full" in told.args[0]
    assert read(Document, path)[0] == Document(name="old")
    with pytest.raises(StorageError):
        write(path, Document())


def test_nothing_is_written_on_the_windows_thread(qtbot, path, inline):
    inline.held = True
    stored = Stored(path, Document(), inline)
    stored.change(name="a")
    stored.save()
    assert not path.exists()
    inline.go()
    assert path.exists()

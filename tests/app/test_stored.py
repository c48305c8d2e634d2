"""A kept document is whole or the old one, whatever happens to its file."""

import json
import os
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError
from mezzotint_app.settings import Settings
from mezzotint_app.stored import MAX_BYTES, Stored, read, write


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
        b"[" * 100_000,
        b'"' + b"x" * (MAX_BYTES + 1) + b'"',
    ],
    ids=["empty", "cut", "bytes", "list", "type", "nested", "huge"],
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


def test_of_a_newer_or_wrong_document_what_can_be_read_is_used(path):
    path.parent.mkdir()
    path.write_bytes(b'{"name": "a", "numbers": ["one"], "from_a_newer_version": 1}')
    document, told = read(Document, path, now=lambda: 0.0)
    assert document == Document(name="a")
    assert "renamed to" in told
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
@pytest.mark.parametrize("is_root", [True, False])
def test_a_file_that_may_not_be_read_is_told_in_words(path, monkeypatch, is_root):
    path.parent.mkdir()
    path.mkdir() if is_root else path.write_bytes(b"{}")
    path.chmod(0o700 if is_root else 0)
    if not is_root and os.access(path, os.R_OK):
        monkeypatch.setattr(type(path), "open", _refused)
    document, told = read(Document, path)
    assert document == Document()
    assert "[Errno" not in told
    assert str(path) in told


def _refused(path, *_):
    raise PermissionError(13, "Permission denied", str(path))


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


def test_what_could_not_be_written_waits_is_told_once_and_is_written_later(qtbot, path, inline, monkeypatch):
    full = {"is": True}
    fsync = os.fsync

    def maybe_full(descriptor):
        if full["is"]:
            raise OSError(28, os.strerror(28))
        fsync(descriptor)

    monkeypatch.setattr("mezzotint.atomic.os.fsync", maybe_full)
    stored = Stored(path, Document(), inline)
    told = []
    stored.failed.connect(told.append)
    stored.change(name="a")
    stored.save()
    stored.save()
    assert len(told) == 1
    assert "kept in this window" in told[0]
    assert stored.unsaved()
    full["is"] = False
    over = []
    stored.resolved.connect(over.append)
    stored.save()
    assert not stored.unsaved()
    assert over == told
    assert read(Document, path) == (Document(name="a"), None)


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot write"):
        write(tmp_path / "file" / "folder" / "document.json", Document())


def test_nothing_is_written_on_the_windows_thread(qtbot, path, inline):
    inline.held = True
    stored = Stored(path, Document(), inline)
    stored.change(name="a")
    stored.save()
    assert not path.exists()
    inline.go()
    assert path.exists()

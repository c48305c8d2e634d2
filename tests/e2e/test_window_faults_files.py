"""Files that are damaged, newer, locked or in the way, disks that are full or gone: nothing of a person's is lost."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from faulty_window import ENGINE, Switch, opened  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402

from mezzotint import paths  # noqa: E402
from mezzotint.jobs.storage import database, opening  # noqa: E402
from mezzotint.jobs.store import JobStore, queue_path  # noqa: E402
from mezzotint.library.gallery import schema as gallery_schema  # noqa: E402
from mezzotint_app import stored  # noqa: E402
from mezzotint_app.settings import Settings, settings_path, state_path  # noqa: E402
from mezzotint_app.viewmodel.queue import access as queue_access  # noqa: E402
from mezzotint_app.windows.main_window import CREATE, MODELS  # noqa: E402


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(queue_access, "_RETRY_DELAY", 0.1)
    monkeypatch.setattr(stored, "_RETRY_DELAY", 100)


def fails(path):
    """A disk that is full for this file; the switch that makes room."""
    full = {"is": True}
    really = stored.atomic_write

    def write(target, data, *, overwrite):
        if full["is"] and Path(target).name == path.name:
            raise_full(target)
        really(target, data, overwrite=overwrite)

    return full, write


def raise_full(path):
    from mezzotint.trouble import storage_error

    raise storage_error("write", path, OSError(28, os.strerror(28)))


# ---- the queue


def with_entries(*prompts):
    from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage

    stages = (Stage(model=ModelRef(id="fake")),)
    with JobStore.open().store as store:
        for prompt in prompts:
            store.add([GenerateRequest(prompt=prompt, cascade=Cascade(stages=stages))])


def test_a_queue_that_is_no_database_is_moved_aside_and_the_window_says_so(qtbot, monkeypatch):
    queue_path().parent.mkdir(parents=True)
    queue_path().write_bytes(b"no database at all " * 1000)
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.until(lambda: "the queue was damaged" in faulty.notice())
        assert "is kept as" in faulty.notice() and "paused" in faulty.notice()
        assert list(queue_path().parent.glob("queue-damaged-*.sqlite"))
        assert faulty.window.queue_page.problem.text() == faulty.notice()
        faulty.ask("a house")
        faulty.until(lambda: "Paused" in faulty.program.queue.summary.text())
        faulty.program.runner.resume()
        faulty.works()
        faulty.until(lambda: faulty.states() == ["done", "done"])


@pytest.mark.slow
def test_of_a_damaged_queue_what_can_be_read_is_there_again(qtbot, monkeypatch):
    with_entries(*(f"house {number} " + "of many words " * 40 for number in range(200)))
    data = bytearray(queue_path().read_bytes())
    page = len(data) // 4096 // 2 * 4096
    data[page : page + 4096] = b"\xa5" * 4096
    queue_path().write_bytes(data)
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.until(lambda: "the queue was damaged" in faulty.notice())
        rows = faulty.rows()
        assert 100 <= len(rows) <= 200
        assert {row.state for row in rows} <= {"waiting", "interrupted"}
        assert faulty.program.runner.task() is None  # paused: a person looks first


TROUBLES = {
    "newer": "is from a newer Mezzotint",
    "locked": "another program has been writing to it",
    "a folder": "it is a folder, not a file",
    "no folder": "already exists",
}


def make_queue_trouble(how):
    """It, and what ends it."""
    path = queue_path()
    if how == "no folder":
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.write_bytes(b"")
        return path.parent.unlink
    if how == "a folder":
        path.mkdir(parents=True)
        return path.rmdir
    with_entries()
    other = sqlite3.connect(path, isolation_level=None)
    if how == "newer":
        other.execute("PRAGMA user_version = 99")
        other.close()
        return path.unlink
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    return other.close


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("how", list(TROUBLES))
def test_a_queue_that_cannot_be_opened_is_told_and_used_as_soon_as_it_can_be(qtbot, monkeypatch, how):
    mend = make_queue_trouble(how)
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.until(lambda: TROUBLES[how] in faulty.notice())
        assert "Nothing is lost" in faulty.notice()
        assert faulty.program.queue.summary.text().startswith("Blocked: ")
        assert TROUBLES[how] in faulty.window.queue_page.problem.text()
        faulty.type_prompt("a house")
        faulty.generate()
        faulty.until(lambda: "Nothing was queued" in faulty.notice())
        assert faulty.program.create.prompts.prompt() == "a house"
        mend()
        faulty.until(lambda: "Nothing is lost" not in faulty.notice())
        assert faulty.window.queue_page.problem.text() == ""
        assert faulty.generate()
        faulty.until(lambda: faulty.states() == ["done"])


def test_a_disk_that_is_full_for_the_queue_is_told_and_the_words_stay(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.until(lambda: faulty.program.runner.state == "idle" and faulty.states() == [])
        limit(faulty, "PRAGMA max_page_count = 1")  # SQLite's own word for a full disk
        words = "a house with a garden " * 2000
        faulty.program.create.prompts.set_prompt(words)
        faulty.generate()
        faulty.until(lambda: "Nothing was queued" in faulty.notice())
        assert "the disk is full: free some space" in faulty.notice()
        assert faulty.program.create.prompts.prompt() == words
        limit(faulty, "PRAGMA max_page_count = 1000000")
        faulty.works()


def limit(faulty, pragma):
    done = []
    faulty.program.access.ask(lambda store: done.append(store._database.connection.execute(pragma).fetchall()))
    faulty.until(lambda: bool(done))


# ---- the gallery


@pytest.mark.slow
def test_a_damaged_gallery_is_made_again_from_the_folder_and_that_is_told(qtbot, monkeypatch, tmp_path):
    switch = Switch(tmp_path / "librarian")
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        faulty.works("a house")
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 1)
        faulty.until(lambda: faulty.program.gallery.model.item(0) is not None)
        faulty.program.gallery.actions.rate([faulty.program.gallery.model.item(0)], 4)
        faulty.until(lambda: (paths.state_folder() / "gallery-stars.jsonl").exists())
    for path in paths.state_folder().glob("gallery.db*"):
        path.unlink()
    (paths.state_folder() / "gallery.db").write_bytes(b"no database at all " * 1000)
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        faulty.until(lambda: "rebuilt from the images" in faulty.notice())
        assert "stars are kept" in faulty.notice()
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 1)
        faulty.until(lambda: faulty.program.gallery.model.item(0) is not None)
        assert faulty.program.gallery.model.item(0).rating == 4
        faulty.works()


@pytest.mark.slow
def test_a_newer_gallery_is_left_alone_and_the_page_says_what_to_do(qtbot, monkeypatch, tmp_path):
    path = paths.state_folder() / "gallery.db"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE things (name)")
        other.execute(f"PRAGMA application_id = {gallery_schema.APPLICATION_ID}")
        other.execute("PRAGMA user_version = 99")
    other.close()
    before = path.read_bytes()
    switch = Switch(tmp_path / "librarian")
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        problem = faulty.window.gallery_page.problem
        faulty.until(lambda: "is from a newer Mezzotint" in problem.text())
        assert "move the file away" in problem.text()
        faulty.works()
        assert path.read_bytes() == before
        path.unlink()
        faulty.works()  # a saved image is a reason to look again
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 2)
        faulty.until(lambda: problem.text() == "")


# ---- settings and what is remembered

HOSTILE = {
    "window": {"vram_limit_bytes": -5, "ram_limit_bytes": 10**30, "device": "\0", "gallery_folders": ["", "\0"]},
    "layout": {"geometry": "a", "page": 10**30},
    "gallery": {"side": 10**17},
    "create": {
        "model": "m",
        "seed": 10**30,
        "prompt": "x" * (1 << 20),
        "history": ["x" * (1 << 20)],
        "per_model": {
            "m": {
                "width": 10**20,
                "height": -5,
                "count": 10**12,
                "steps": -3,
                "guidance_scale": 1e300,
                "clip_skip": 10**15,
                "second_scale": 1e308,
                "second_pass": True,
                "refiner_at": 77.0,
                "loras": [{"path": "\0", "weight": 1e308}],
            }
        },
    },
}


def path_of(name):
    return settings_path() if name == "window" else state_path(name)


def test_whatever_numbers_and_words_files_hold_the_window_opens(qtbot, monkeypatch):
    for name, values in HOSTILE.items():
        path_of(name).parent.mkdir(parents=True, exist_ok=True)
        path_of(name).write_text(json.dumps(values | ({"first_run_done": True} if name == "window" else {})))
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        for page in range(CREATE, MODELS + 1):
            faulty.window.show_page(page)
            qtbot.wait(1)
        faulty.window.dialogs.settings()
        faulty.window.dialogs._open["settings"].close()
        faulty.works()


KNOWN = {
    "window": ("theme", "dark"),
    "layout": ("maximized", True),
    "gallery": ("order", "oldest"),
    "create": ("prompt", "a house by the sea"),
}


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("is_newer", [True, False], ids=["newer", "damaged"])
def test_files_that_cannot_be_read_are_kept_told_and_what_they_say_is_used(qtbot, monkeypatch, is_newer):
    written = {}
    for name, (field, value) in KNOWN.items():
        whole = json.dumps({"from_a_newer_version": 1, "first_run_done": True, field: value}).encode()
        written[name] = whole if is_newer else whole[:-1]
        path_of(name).parent.mkdir(parents=True, exist_ok=True)
        path_of(name).write_bytes(written[name])
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        assert faulty.notice().count("could not be read") == faulty.notice().count("renamed to") == len(KNOWN)
        program = faulty.program
        documents = {"window": program.settings, "layout": program.window_state}
        documents |= {"gallery": program.gallery_state, "create": program.create_state}
        for name, (field, value) in KNOWN.items():
            assert (getattr(documents[name].value(), field) == value) == is_newer
        faulty.works()
    for name, data in written.items():
        kept = [path for path in path_of(name).parent.iterdir() if path.name.startswith(f"{path_of(name).name}.")]
        assert [path.read_bytes() for path in kept] == [data]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["window", "create"])
def test_a_disk_that_is_full_for_settings_is_told_and_they_are_written_later(qtbot, monkeypatch, name):
    full, write = fails(path_of(name))
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        monkeypatch.setattr(stored, "atomic_write", write)
        faulty.program.settings.change(theme="dark")
        faulty.program.create.prompts.set_prompt("a house by the sea")
        faulty.until(lambda: "the disk is full: free some space" in faulty.notice())
        assert "kept in this window" in faulty.notice()
        faulty.works("a house by the sea")
        assert faulty.program.settings.value().theme == "dark"
        full["is"] = False
        faulty.until(lambda: "kept in this window" not in faulty.notice())
    kind = type(faulty.program.settings.value() if name == "window" else faulty.program.create_state.value())
    kept = stored.read(kind, path_of(name))[0]
    assert kept.theme == "dark" if name == "window" else kept.prompt == "a house by the sea"


@pytest.mark.slow
def test_what_could_not_be_written_is_written_at_the_end_when_there_is_room_by_then(qtbot, monkeypatch):
    full, write = fails(settings_path())
    monkeypatch.setattr(stored, "_RETRY_DELAY", 60_000)
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        monkeypatch.setattr(stored, "atomic_write", write)
        faulty.program.settings.change(theme="dark")
        faulty.until(lambda: "the disk is full" in faulty.notice())
        full["is"] = False
    assert stored.read(Settings, settings_path())[0].theme == "dark"


# ---- images


def test_a_full_disk_for_images_pauses_the_queue_and_says_so(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.ask("full")
        faulty.until(lambda: "The queue is paused" in faulty.notice())
        assert "the disk is full: free some space" in faulty.notice()
        assert faulty.states() == ["waiting"]
        faulty.until(lambda: "Paused: " in faulty.program.queue.summary.text())
        entry = faulty.rows()[0].id
        faulty.program.access.change(lambda store: store.cancel([entry]))
        faulty.program.runner.resume()
        faulty.works()


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("what", ["pasted", "masks"])
def test_a_full_disk_for_pasted_images_and_masks_is_told_and_what_was_chosen_stays(qtbot, monkeypatch, what):
    from mezzotint_app.viewmodel.create.images import own_images

    real = own_images.atomic_write
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.works("a house")
        images = faulty.program.images
        images.set_image(faulty.saved[0].path)
        monkeypatch.setattr(own_images, "atomic_write", lambda path, *_, **__: raise_full(path))
        image = QImage(64, 64, QImage.Format.Format_Grayscale8)
        image.fill(255)
        told = []
        if what == "pasted":
            images.paste(image)
            faulty.until(lambda: "the disk is full" in faulty.notice())
        else:
            canvas = faulty.program.canvas
            canvas.message.connect(told.append)
            canvas.paste(image)
            canvas.generation.hand_over()
            faulty.until(lambda: bool(told))
            assert "the disk is full" in told[0]
        assert images.path() == faulty.saved[0].path
        monkeypatch.setattr(own_images, "atomic_write", real)
        images.paste(image)
        faulty.until(lambda: images.path() != faulty.saved[0].path)


def test_an_output_folder_that_is_gone_fails_the_task_in_words_and_it_can_be_retried(qtbot, monkeypatch, tmp_path):
    folder = tmp_path / "disk" / "images"
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        (tmp_path / "disk").write_bytes(b"")  # a mount point that nobody may write to, for root, too
        faulty.program.settings.change(output_folder=str(folder))
        faulty.ask("a house")
        faulty.until(lambda: faulty.states() == ["failed"])
        assert "choose another folder" in faulty.rows()[0].error
        (tmp_path / "disk").unlink()
        entry = faulty.rows()[0].id
        faulty.program.access.change(lambda store: store.retry([entry]))
        faulty.until(lambda: faulty.states() == ["done"] and len(faulty.saved) == 1)  # the window hears of it later
        assert faulty.saved[0].path.startswith(str(folder))

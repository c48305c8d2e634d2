"""The folder of versions: its pointer, and where it is."""

from pathlib import Path

import pytest

from mezzotint_setup.root import Pointer, Root, data_folder, default_root, interpreter_in, left_root, moved, remember


@pytest.fixture
def made(root):
    made = Root(root, windows=False)
    made.create()
    for name in ("1-cpu", "2-cpu"):
        (made.folder(name) / "bin").mkdir(parents=True)
        (made.folder(name) / "bin" / "python").touch()
        (made.folder(name) / ".proven").write_text("{}")
    return made


def test_the_pointer_is_followed(made):
    made.switch("1-cpu", "2-cpu")
    assert made.pointer() == Pointer(version="1-cpu", before="2-cpu")
    assert made.usable() == "1-cpu"


def test_a_version_that_is_gone_is_replaced_by_the_one_before(made):
    made.switch("3-cpu", "1-cpu")
    assert made.usable() == "1-cpu"
    (made.folder("1-cpu") / "bin" / "python").unlink()
    assert made.usable() == "2-cpu"
    (made.folder("2-cpu") / ".proven").unlink()
    assert made.usable() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": "../../etc"}', '{"version": 3}', '{"version": ".x"}']
)
def test_a_damaged_pointer_is_none(made, text):
    (made.path / "current.json").write_text(text)
    assert made.pointer() is None
    assert made.usable() in ("1-cpu", "2-cpu")


def test_a_root_that_is_not_there_has_nothing(tmp_path):
    absent = Root(tmp_path / "absent")
    assert (absent.usable(), absent.pointer(), absent.proven()) == (None, None, [])
    assert absent.free() > 0


def test_interpreters_of_windows():
    assert interpreter_in(Path("v"), windows=True).as_posix() == "v/Scripts/python.exe"
    assert interpreter_in(Path("v"), windows=True, console=False).as_posix() == "v/Scripts/pythonw.exe"


def test_a_file_that_a_scanner_holds_is_moved_later(tmp_path):
    class Held:
        tries = 0

        def replace(self, target):
            self.tries += 1
            if self.tries < 3:
                raise PermissionError(5, "Access is denied")

    held, waits = Held(), []
    moved(held, tmp_path, waits.append)
    assert len(waits) == 2


def test_the_default_is_the_system_s_folder_unless_another_was_chosen(tmp_path):
    environment = {"HOME": str(tmp_path)}
    assert default_root(environment, "linux") == tmp_path / ".local/share/mezzotint/engine"
    remember(tmp_path / "drive" / "mine", environment, "linux")
    assert default_root(environment, "linux") == tmp_path / "drive" / "mine"
    assert default_root({**environment, "MEZZOTINT_ENGINE_ROOT": "/other"}, "linux") == Path("/other")
    standard = tmp_path / ".local/share/mezzotint/engine"
    assert left_root(environment, "linux") == standard
    remember(tmp_path / "drive" / "mine", environment, "linux")
    assert left_root(environment, "linux") == standard
    remember(standard, environment, "linux")
    assert default_root(environment, "linux") == standard
    assert left_root(environment, "linux") == tmp_path / "drive" / "mine"


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share/mezzotint"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/d"}, "/d/mezzotint"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/mezzotint"),
        ("win32", {"USERPROFILE": "/u"}, "/u/AppData/Local/mezzotint"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/mezzotint"),
    ],
)
def test_folders_for_data(system, environment, folder):
    assert data_folder(environment, system).as_posix() == folder

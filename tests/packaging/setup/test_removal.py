"""Removing the program: what is the user's stays."""

import sys

import pytest

from mezzotint_setup.held_file import HeldFile
from mezzotint_setup.removal import drop_left_window, remove_all
from mezzotint_setup.root import IN_USE, Root, data_folder, remember

SYSTEMS = {
    "linux": {"settings": ".config/mezzotint/window.json", "queue": ".local/state/mezzotint/queue.sqlite"},
    "darwin": {
        "settings": "Library/Application Support/mezzotint/window.json",
        "queue": "Library/Application Support/mezzotint/queue.sqlite",
    },
    "win32": {"settings": "AppData/Local/mezzotint/window.json", "queue": "AppData/Local/mezzotint/queue.sqlite"},
}


@pytest.fixture(params=SYSTEMS)
def home(request, tmp_path):
    """Everything that Mezzotint keeps, on each system."""
    environment = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    data = data_folder(environment, request.param)
    files = {name: tmp_path / path for name, path in SYSTEMS[request.param].items()}
    files |= {
        "engine": data / "engine/versions/1-cpu/.proven",
        "cache": data / "engine/cache/a",
        "python": data / "engine/python/bin/python",
        "mine": data / "engine/mine.txt",
        "model": data / "models/mine.safetensors",
        "undecoded": files["queue"].parent / "undecoded/image.safetensors",
        "image": tmp_path / "Pictures/house.png",
    }
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")

    def remove(**options):
        left = remove_all(Root(data / "engine"), environment=environment, system=request.param, **options)
        assert left == []
        return sorted(name for name, path in files.items() if path.exists())

    return remove


def test_only_the_program_is_removed(home):
    assert home() == ["image", "mine", "model", "queue", "settings", "undecoded"]


def test_settings_if_asked(home):
    assert home(purge=True) == ["image", "mine", "model", "undecoded"]


def test_models_if_asked(home):
    assert home(models=True) == ["image", "mine", "queue", "settings", "undecoded"]


def test_folders_that_were_moved_are_left_alone(tmp_path):
    moved = tmp_path / "documents"
    moved.mkdir()
    (moved / "window.json").write_text("x")
    environment = {"HOME": str(tmp_path), **{f"MEZZOTINT_{name}": str(moved) for name in ("CONFIG", "MODELS", "STATE")}}
    assert remove_all(Root(tmp_path / "absent"), purge=True, models=True, environment=environment, system="linux") == []
    assert (moved / "window.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="few users may make links there")
def test_links_are_not_followed(tmp_path, root):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_text("x")
    root.mkdir()
    (root / "cache").symlink_to(tmp_path / "images")
    assert remove_all(Root(root), environment={"HOME": str(tmp_path)}, system="linux") == []
    assert (tmp_path / "images" / "a.png").exists() and not root.exists()


@pytest.fixture
def left(tmp_path):
    """The standard folder, after another was chosen."""
    environment = {"HOME": str(tmp_path)}
    remember(tmp_path / "chosen", environment, "linux")
    folder = data_folder(environment, "linux") / "engine"

    def dropped(*names):
        for path in (*(f"versions/{name}/.proven" for name in names), "cache/a", "downloads/b", "python/c"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("{}")
        drop_left_window(tmp_path / "chosen", environment, "linux")
        return sorted(path.name for path in folder.iterdir())

    return folder, dropped


def test_the_window_is_dropped_where_the_engine_went_elsewhere(left):
    _, dropped = left
    assert dropped("1.0-window", "1.0-window.2") == ["elsewhere.json", "python"]


def test_a_folder_with_an_engine_is_left_alone(left):
    folder, dropped = left
    assert "versions" in dropped("1.0-window", "1.0-cpu")
    assert len(list((folder / "versions").iterdir())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="files in use cannot be removed there, which only a program shows")
def test_a_window_that_runs_is_kept_until_later(left):
    folder, dropped = left
    (folder / "versions/1.0-window").mkdir(parents=True)
    held = HeldFile.take(folder / "versions/1.0-window" / IN_USE, shared=True)
    assert "versions" in dropped("1.0-window")
    held.release()
    assert "versions" not in dropped("1.0-window")

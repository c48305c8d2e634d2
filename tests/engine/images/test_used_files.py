"""Where the files of images were is remembered on this machine, and nowhere else."""

import stat
import sys
from dataclasses import dataclass

import pytest

from mezzotint.images import used_files
from mezzotint.images.used_files import places_of, remember_files
from mezzotint.paths import state_folder


@dataclass(frozen=True, kw_only=True)
class Record:
    model: str = ""
    files: tuple[str, ...] = ()
    parts: dict[str, str] | None = None


def kept():
    return state_folder() / "used_files.jsonl"


def test_the_last_place_comes_first_and_what_is_gone_is_left_out(tmp_path):
    places = [tmp_path / folder / "ink.safetensors" for folder in "abc"]
    for place in places:
        place.parent.mkdir()
        place.touch()
        remember_files(Record(files=(str(place), "name.safetensors")))
    places[1].unlink()
    assert places_of("ink.safetensors") == [places[2], places[0]]
    assert places_of("name.safetensors") == places_of("other") == []


def test_folders_and_parts_are_remembered_once(tmp_path):
    (tmp_path / "model").mkdir()
    record = Record(model=str(tmp_path / "model"), parts={"vae": str(tmp_path / "model")})
    for _ in range(3):
        remember_files(record)
    assert places_of("model") == [tmp_path / "model"]
    assert len(kept().read_text().splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_other_users_cannot_read_it(tmp_path):
    remember_files(Record(model=str(tmp_path)))
    assert stat.S_IMODE(kept().parent.stat().st_mode) == 0o700 or "MEZZOTINT_STATE" in used_files.os.environ


def test_damaged_lines_are_passed_over(tmp_path):
    remember_files(Record(model=str(tmp_path)))
    with open(kept(), "ab") as file:
        file.write(b'\xff{garbage\n["x"]\n[1, 2]\n')
    assert places_of(tmp_path.name) == [tmp_path]
    assert places_of("x") == []


def test_old_lines_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(used_files, "_MOST_LINES", 10)
    for number in range(30):
        (tmp_path / str(number)).mkdir()
        remember_files(Record(model=str(tmp_path / str(number))))
    assert len(kept().read_text().splitlines()) <= 10
    assert places_of("29") == [tmp_path / "29"] and places_of("0") == []


def test_a_state_that_cannot_be_written_costs_no_image(tmp_path):
    state_folder().parent.mkdir(parents=True, exist_ok=True)
    state_folder().write_text("a file in the way")
    remember_files(Record(model=str(tmp_path)))
    assert places_of(tmp_path.name) == []


def test_texts_that_are_no_paths_are_not_kept():
    remember_files(Record(model="starter-dit", files=("a/b.safetensors", "/" + "x" * 5000)))
    assert not kept().exists()

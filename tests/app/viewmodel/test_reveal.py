"""A file in the system's own program for folders."""

import pytest
from fake_service import InlineBackground
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl

from mezzotint_app.viewmodel.reveal import Reveal, finish, show_file


class Program:
    def __init__(self, works=True):
        self.called, self.works = [], works

    def __call__(self, program, words):
        self.called.append((program, *words))
        return self.works


def test_windows_and_macos_mark_the_file():
    start = Program()
    assert show_file("C:\\p\\a b.png", platform="win32", start=start)
    assert show_file("/p/a b.png", platform="darwin", start=start)
    assert start.called == [("explorer.exe", '/select,"C:\\p\\a b.png"'), ("open", "-R", "/p/a b.png")]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
def test_names_stay_one_word_for_the_file_manager(name):
    run = Program()
    path = "/p/" + name.replace("/", "_")
    assert show_file(path, platform="linux", finish=run)
    *_, files, startup = run.called[0]
    assert startup == ""
    assert (files[:2], files[-2:]) == ("['", "']")
    assert not set(files[2:-2]) & set("' \"\\")
    assert QUrl(files[2:-2]).toLocalFile() == QUrl.fromLocalFile(path).toLocalFile()


@pytest.mark.parametrize("works", [True, False])
def test_where_a_file_cannot_be_marked_its_folder_is_opened(tmp_path, qapp, works):
    image = tmp_path / "x.png"
    image.write_bytes(b"x")
    reveal = Reveal(InlineBackground(), show=lambda path: works)
    opened = []
    reveal.open_folder.connect(opened.append)
    reveal.show(str(image))
    assert opened == ([] if works else [str(tmp_path)])


def test_a_file_that_is_gone_leads_to_the_nearest_folder(tmp_path, qapp):
    reveal = Reveal(InlineBackground(), show=lambda path: True)
    opened = []
    reveal.open_folder.connect(opened.append)
    reveal.show(str(tmp_path / "gone" / "x.png"))
    reveal.show_folder(str(tmp_path / "gone" / "deeper"))
    assert opened == [str(tmp_path), str(tmp_path)]


def test_a_program_that_is_not_there_is_no_trouble(qapp):
    assert not finish("no-such-program-anywhere", [])

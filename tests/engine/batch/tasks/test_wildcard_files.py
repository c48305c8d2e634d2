"""Wildcard files are listed, read and written by name, and nowhere else."""

import pytest

from mezzotint.batch.methods import batch_methods
from mezzotint.batch.tasks.wildcards import drawn
from mezzotint.batch_protocol import DrawRequest, SaveWildcard, WildcardFolder, WildcardName
from mezzotint.catalog import Catalog
from mezzotint.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "wildcards"
    path.mkdir()
    return path


@pytest.fixture
def ask(folder):
    table = batch_methods(Catalog.standard)
    kinds = {"wildcards": WildcardFolder, "wildcard_text": WildcardName, "save_wildcard": SaveWildcard}

    def call(method, /, **fields):
        return table[method].run(kinds[method](folder=str(folder), **fields), lambda _: None, lambda: False)

    return call


def test_written_read_listed_and_drawn(ask, folder):
    ask("save_wildcard", name="animal", text="cat\nögre\n# no\n\n")
    ask("save_wildcard", name="places/hill", text="a hill with a __animal__")
    assert ask("wildcards") == ("animal", "places/hill")
    assert ask("wildcard_text", name="animal") == "cat\nögre\n# no\n"
    with pytest.raises(UsageError, match="already a wildcard __animal__"):
        ask("save_wildcard", name="animal", text="dog")
    ask("save_wildcard", name="animal", text="dog", replaces=True)
    request = DrawRequest(prompt="__places/hill__", wildcards=str(folder), seeds=(1, 2))
    assert set(drawn(request)) == {"a hill with a dog"}


def test_unsaved_texts_are_drawn_instead_of_files(ask, folder):
    ask("save_wildcard", name="animal", text="cat")
    given = {"animal": "fox", "new": "a __animal__", "empty": "# nothing"}
    request = DrawRequest(prompt="__new__", wildcards=str(folder), seeds=(1,), given=given)
    assert drawn(request) == ("a fox",)
    with pytest.raises(UsageError, match="no lines"):
        drawn(DrawRequest(prompt="__empty__", wildcards=str(folder), seeds=(1,), given=given))


@pytest.mark.parametrize("name", ["", "..", "../up", "a/../../up", "/etc/x", "a b", "a__b", "x" * 300, "a\0b", "con/"])
def test_names_stay_in_the_folder(ask, name, folder):
    for how in (lambda: ask("wildcard_text", name=name), lambda: ask("save_wildcard", name=name, text="x")):
        with pytest.raises(UsageError, match="not the name of a wildcard"):
            how()
    assert list(folder.parent.iterdir()) == [folder] and not list(folder.iterdir())


def test_a_link_out_of_the_folder_is_not_followed(ask, tmp_path, folder):
    (tmp_path / "outside.txt").write_text("mine")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    for how in (lambda: ask("wildcard_text", name="link"), lambda: ask("save_wildcard", name="link", text="x")):
        with pytest.raises(UsageError, match="outside its folder"):
            how()
    assert (tmp_path / "outside.txt").read_text() == "mine"


def test_what_cannot_be_read_or_kept(ask, tmp_path, folder):
    (folder / "latin.txt").write_bytes(b"\xe9")
    with pytest.raises(UsageError, match="not valid UTF-8"):
        ask("wildcard_text", name="latin")
    with pytest.raises(UsageError, match="no readable file"):
        ask("wildcard_text", name="missing")
    with pytest.raises(UsageError, match="cannot be saved"):
        ask("save_wildcard", name="a", text="\ud800")
    with pytest.raises(UsageError, match="at most 4194304"):
        ask("save_wildcard", name="a", text="x" * (4 << 20))
    folder.rename(tmp_path / "gone")
    with pytest.raises(UsageError, match="there is no folder"):
        ask("wildcards")

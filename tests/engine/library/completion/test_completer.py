"""What a word is completed to, by kind."""

import pytest

from mezzotint.errors import UsageError
from mezzotint.library.completion.completer import Completer
from mezzotint.library.styles.store import save_style
from mezzotint.library_protocol import Completion, CompletionQuery, Style


class Catalog:
    """LoRAs and embeddings, and how often they were looked for."""

    looked = 0

    def loras(self):
        Catalog.looked += 1
        return {"Ink Style": "/l/Ink Style.safetensors", "pencil-ink": "/l/p.safetensors", "b\udcff": "/l/b"}

    def embeddings(self):
        return {"inked": "/e/inked.safetensors"}


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def completer(now):
    Catalog.looked = 0
    return Completer(Catalog, clock=lambda: now[0])


def query(word, *kinds, **more):
    return CompletionQuery(word=word, kinds=kinds, **more)


def test_files_by_name(completer, now):
    found = completer.complete(query("ink", "lora", "embedding"))
    assert [(one.kind, one.text) for one in found] == [
        ("lora", "Ink Style"),
        ("lora", "pencil-ink"),
        ("embedding", "inked"),
    ]
    assert found[2].path == "/e/inked.safetensors"
    assert len(completer.complete(query("", "lora", limit=1))) == 1
    assert Catalog.looked == 1
    now[0] = 11.0
    completer.complete(query("", "lora"))
    assert Catalog.looked == 2


def test_tags_are_read_again_when_their_file_changes(completer, tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("blue_eyes,0,12345,azure_eyes\n")
    of_file = {"tag_file": str(path)}
    assert completer.complete(query("azure", "tag", **of_file)) == (
        Completion(kind="tag", text="blue_eyes", detail="azure_eyes, 12 345"),
    )
    path.write_text("azure,0,1\n")
    assert [one.text for one in completer.complete(query("azure", "tag", **of_file))] == ["azure"]
    assert completer.complete(query("azure", "tag")) == ()
    with pytest.raises(UsageError, match="there is no tag file"):
        completer.complete(query("a", "tag", tag_file="absent\0.csv"))


def test_wildcards_are_files_of_a_folder(completer, tmp_path):
    for name in ("animal.txt", "deep/Colour.txt", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a")
    found = completer.complete(query("o", "wildcard", wildcards=str(tmp_path)))
    assert [one.text for one in found] == ["deep/Colour"]
    assert len(completer.complete(query("", "wildcard", wildcards=str(tmp_path)))) == 2
    assert completer.complete(query("", "wildcard")) == ()


@pytest.mark.parametrize("asked", [query("x" * 201, "lora"), query("", "lora", limit=0), query("", "lora", limit=101)])
def test_odd_queries_find_nothing(completer, asked):
    assert completer.complete(asked) == ()


def test_styles_by_the_beginnings_of_their_words(completer):
    save_style(Style(name="Ink drawing", prompt="ink"))
    save_style(Style(name="Old drawings", prompt="old"))
    found = completer.complete(query("draw", "style"))
    assert {one.text for one in found} >= {"Ink drawing", "Old drawings"} and {one.kind for one in found} == {"style"}
    assert not {"Ink drawing", "Old drawings"} & {one.text for one in completer.complete(query("rawing", "style"))}

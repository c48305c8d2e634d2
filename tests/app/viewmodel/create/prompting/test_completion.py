"""Completion in a prompt: what is typed, and what becomes of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library_protocol import Completion, ModelCard
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.completion import PromptCompletion, TextEdit, edit_of, last_word, typed_at

pytestmark = pytest.mark.requires_package("PySide6")

TAG = Completion(kind="tag", text="blue_eyes_(x)", detail="12")


def typed(text):
    return typed_at(text, len(text))


def applied(text, chosen, after=""):
    edit = edit_of(typed(text), chosen, after)
    return text[: edit.start] + edit.text + text[edit.end :] + after


@pytest.mark.parametrize(
    ("text", "word", "kind"),
    [
        ("bl", "bl", "embedding"),
        ("a house, blue ey", "blue ey", "embedding"),
        ("(a:1.2), (bl", "bl", "embedding"),
        ("{red|bl", "bl", "embedding"),
        ("a <lora:in", "in", "lora"),
        ("a <", "", "lora"),
        ("an __ani", "ani", "wildcard"),
        ("an __a/b", "a/b", "wildcard"),
    ],
)
def test_what_is_typed(text, word, kind):
    found = typed(text)
    assert (found.word, found.kinds[0]) == (word, kind)
    assert text[found.start :].endswith(word) and found.end == len(text)


@pytest.mark.parametrize("text", ["", "a, ", "b", "x, y", "__animal__", "(a:1.2"])
def test_what_is_not(text):
    assert typed(text) is None


@given(st.text(st.sampled_from("ab ,(<_:lora\n|é"), max_size=30), st.integers(0, 30))
def test_any_place_of_any_text(text, place):
    found = typed_at(text, min(place, len(text)))
    assert found is None or 0 <= found.start <= found.end <= len(text)


def test_the_text_after_choosing():
    assert applied("a, blu", TAG) == "a, blue eyes \\(x\\), "
    assert applied("a, blu", TAG, ", b") == "a, blue eyes \\(x\\), b"
    assert applied("(blu", TAG, ")") == "(blue eyes \\(x\\))"
    assert applied("an __an", Completion(kind="wildcard", text="animal")) == "an __animal__"
    assert applied("a, <lora:i", Completion(kind="lora", text="ink", path="/i")) == "a, "
    assert applied("a, ink", Completion(kind="style", text="Ink drawing")) == "a, "
    assert applied("in", Completion(kind="embedding", text="in_k", path="/i")) == "in_k, "


def test_the_last_word():
    assert last_word(typed("a house by the moun")).word == "moun"
    assert last_word(typed("a, x mountain")).start == len("a, x ")
    assert last_word(typed("mountain")) is None and last_word(typed("a house by")) is None
    assert last_word(typed("<lora:some name")) is None


@pytest.fixture
def settings(inline, tmp_path, qapp):
    return Stored(tmp_path / "window.json", Settings(tag_file="/t.csv"), inline)


@pytest.fixture
def completion(service, settings):
    return PromptCompletion(service, settings)


def test_only_the_answer_to_the_last_word_counts(completion, service, qtbot):
    completion.type("blu", 3)
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    assert service.last().params.tag_file == "/t.csv"
    completion.type("blue", 4)
    service.answer((TAG,))
    assert completion.found() == ()
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    service.answer((TAG,))
    assert completion.found() == (TAG,)
    assert completion.choose(1, "blue") is None
    assert completion.choose(0, "blue") == TextEdit(start=0, end=4, text="blue eyes \\(x\\), ")
    assert completion.found() == () and completion.choose(0, "blue") is None


def test_the_last_word_of_a_sentence_is_completed_if_all_of_it_is_nothing(completion, service, qtbot):
    text = "a man with blu"
    completion.type(text, len(text))
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    service.answer(())
    assert service.last().params.word == "blu" and not completion.is_named()
    service.answer((TAG,))
    assert completion.choose(0, text) == TextEdit(start=len("a man with "), end=len(text), text="blue eyes \\(x\\), ")


def test_files_that_are_chosen_are_told(completion, service, qtbot):
    told = []
    completion.lora_chosen.connect(told.append)
    completion.type("<lora:i", 7)
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    service.answer((Completion(kind="lora", text="ink", path="/l/ink.safetensors"),))
    assert completion.is_named()
    described = []
    completion.lora_described.connect(lambda *said: described.append(said))
    completion.choose(0, "<lora:i")
    assert told == ["/l/ink.safetensors"]
    card = ModelCard(path="/l/ink.safetensors", name="ink", trigger_words=("inky",), weight=0.7)
    service.answer((card,))
    assert described == [("/l/ink.safetensors", ("inky",), 0.7)]
    completion.style_chosen.connect(told.append)
    completion.type("ink", 3)
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    assert "style" in service.last().params.kinds
    service.answer((Completion(kind="style", text="Ink drawing"),))
    completion.choose(0, "ink")
    assert told[1:] == ["Ink drawing"]


def test_a_tag_file_that_cannot_be_read_is_told_once(completion, service, qtbot):
    told = []
    completion.failed.connect(told.append)
    for text in ("bl", "blu"):
        completion.type(text, len(text))
        qtbot.waitUntil(lambda: bool(service.open("complete")))
        service.fail("usage", "there is no tag file")
        assert service.last().params.tag_file == ""
        service.answer((Completion(kind="lora", text="blur", path="/b"),))
        assert completion.found()[0].text == "blur"
    assert told == ["there is no tag file"]
    completion.type("blue", 4)
    qtbot.waitUntil(lambda: bool(service.open("complete")))
    for _ in range(2):
        service.fail("usage", "there is no tag file")
    assert completion.found() == ()
    completion.type("", 0)
    assert completion.found() == ()

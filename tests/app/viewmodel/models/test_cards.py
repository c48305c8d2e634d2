"""Cards: read once, changed at once, stored in the background."""

import pytest
from PySide6.QtCore import QMimeData

from mezzotint.library_protocol import ModelCard
from mezzotint_app.viewmodel.models.cards import (
    LORA_FORMAT,
    CardFilter,
    ModelCards,
    dragged_lora,
    lora_data,
)

INK = ModelCard(path="/l/ink.safetensors", name="ink", base="SDXL", tags=("style",), trigger_words=("inkwash",))
FOG = ModelCard(path="/l/fog.safetensors", name="fog", weight=0.6)


@pytest.fixture
def cards(service, qapp):
    cards = ModelCards(service)
    cards.refresh_loras()
    cards.refresh_loras()
    service.answer((INK, FOG), "loras")
    return cards


def test_loras_are_listed_once(cards, service):
    assert cards.loras() == (INK, FOG)
    assert service.methods() == ["loras"]


def test_changes_are_shown_at_once_and_stored(cards, service):
    told = []
    cards.changed.connect(told.append)
    cards.save(FOG.path, tags=("mood",), trigger_words=("foggy",), notes="n")
    assert cards.loras()[1].tags == ("mood",)
    assert service.last("save_card").params.trigger_words == ("foggy",)
    assert told == [FOG.path]
    cards.save("/unknown", tags=(), trigger_words=(), notes="")
    assert service.methods().count("save_card") == 1


def test_a_new_picture_is_shown_even_under_the_same_path(cards, service):
    assert cards.picture_key(FOG) is None
    keys = []
    for _ in range(2):
        cards.set_picture(FOG.path, "/made.png")
        service.answer("/c/fog.webp", "card_picture")
        keys.append(cards.picture_key(cards.card(FOG.path)))
    assert keys[0] != keys[1]
    assert {key.path for key in keys} == {"/c/fog.webp"}


def test_failures_are_told(cards, service):
    told = []
    cards.message.connect(told.append)
    cards.refresh_loras()
    service.fail(message="no disk", method="loras")
    cards.read(())
    cards.read(("/m",))
    service.fail(message="gone", method="cards")
    assert told == ["no disk", "gone"]
    assert cards.loras() == (INK, FOG)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (CardFilter(), [INK, FOG]),
        (CardFilter(text="WASH"), [INK]),
        (CardFilter(base="SDXL"), [INK]),
        (CardFilter(tag="style", text="fog"), []),
    ],
)
def test_filters(wanted, expected):
    assert [one for one in (INK, FOG) if wanted.takes(one)] == expected


def test_a_dragged_lora_brings_its_words_and_nothing_else_does():
    data = lora_data(INK)
    assert dragged_lora(data) == (INK.path, ("inkwash",), None)
    assert [url.toLocalFile() for url in data.urls()] == [INK.path]
    for text in (b"", b"[]", b'{"path": 1}'):
        foreign = QMimeData()
        foreign.setData(LORA_FORMAT, text)
        assert dragged_lora(foreign) is None
    assert dragged_lora(QMimeData()) is None

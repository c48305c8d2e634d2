"""Nothing is fetched before an offer was seen and taken."""

import pytest
from fake_service import FakeService

from mezzotint.library_protocol import GetRequest, KnownModel, Offer
from mezzotint_app.viewmodel.models.get_model import GetModel
from mezzotint_app.viewmodel.models.models import ModelLibrary

KNOWN = KnownModel(
    id="owner/name",
    title="A model",
    good_at="landscapes",
    licence="Apache-2.0",
    licence_url="https://example.org",
    family="sdxl",
    bytes=7 << 30,
    smallest_vram_bytes=3 << 30,
    gated=False,
    runs=True,
)


def offer(source="owner/name", **changes):
    values = {
        "source": source,
        "revision": "abc",
        "title": "A model",
        "licence": "Apache-2.0",
        "files": ("a.safetensors",),
        "bytes": 5,
        "bytes_left": 5,
        "free_bytes": 100,
        "target": "/models/name",
        "problem": None,
    }
    return Offer(**values | changes)


@pytest.fixture
def get(qapp, service):
    return GetModel(service, ModelLibrary(service, FakeService()), endpoint="https://mirror.example.org")


def test_the_list_is_loaded(qtbot, get, service):
    get.load()
    with qtbot.waitSignal(get.changed):
        service.answer((KNOWN,), "known_models")
    assert get.known == (KNOWN,)


def test_an_offer_is_asked_for_and_taken(get, service):
    get.choose(" owner/name ")
    get.set_token(" secret ")
    assert service.asked == []
    get.look()
    asked = service.last("offer").params
    assert asked == GetRequest(source="owner/name", token="secret", endpoint="https://mirror.example.org")
    assert get.looking
    assert not get.can_get()
    service.answer(offer(), "offer")
    assert get.can_get()
    get.get()
    assert service.last("get").params == GetRequest(
        source="owner/name", revision="abc", token="secret", endpoint="https://mirror.example.org"
    )


def test_an_offer_with_a_problem_cannot_be_taken(get, service):
    get.choose("owner/name")
    get.look()
    service.answer(offer(problem="the disk has no room"), "offer")
    assert not get.can_get()
    assert get.offer.problem == "the disk has no room"


def test_another_choice_drops_the_question_and_the_offer(get, service):
    get.choose("owner/name")
    get.look()
    get.choose("owner/other")
    assert service.cancelled == [1]
    service.answer(offer("owner/name"), "offer")
    assert get.offer is None
    get.look()
    service.fail(kind="cancelled", message="stopped", method="offer")
    assert get.problem == ""


def test_a_hub_that_refuses_is_told(qtbot, get, service):
    get.choose("owner/name")
    get.look()
    with qtbot.waitSignal(get.changed):
        service.fail(message="there is no such model", method="offer")
    assert (get.problem, get.looking) == ("there is no such model", False)


def test_looking_for_nothing_says_what_to_name(get, service):
    get.choose("   ")
    get.look()
    assert "owner/name" in get.problem
    assert service.asked == []

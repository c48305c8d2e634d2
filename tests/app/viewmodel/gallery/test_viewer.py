"""Images one after the other: the place, neighbours read ahead within a bound, stars, the bin, words."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QImage  # noqa: E402

from mezzotint.protocol import ImageMetadata  # noqa: E402
from mezzotint_app.viewmodel.gallery import viewer  # noqa: E402
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel  # noqa: E402

PATHS = [f"/{number}.png" for number in range(6)]


@pytest.fixture
def model(service, inline, qapp):
    return ViewerModel(service, inline, rating_of=lambda path: 2)


def image(side=10):
    made = QImage(side, side, QImage.Format.Format_RGB32)
    made.fill(0)
    return made


def asked(service):
    return [one.params.path for one in service.asked if one.method == "pixels"]


def says(program="a1111", prompt="a house"):
    fields = (
        "negative_prompt",
        "width",
        "height",
        "seed",
        "steps",
        "sampler",
        "schedule",
        "guidance_scale",
        "strength",
    )
    others = dict.fromkeys((*fields, "model", "model_hash", "request"))
    return ImageMetadata(program=program, prompt=prompt, other={}, **others)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 5),
    st.integers(-3, 9),
    st.lists(
        st.one_of(st.integers(-7, 7).map(lambda by: ("step", by)), st.sampled_from(PATHS).map(lambda p: ("forget", p)))
    ),
)
def test_the_place_is_always_one_of_the_images(service, inline, qapp, count, index, actions):
    model = ViewerModel(service, inline)
    model.open(PATHS[:count], index)
    left = PATHS[:count]
    for action, value in actions:
        before = model.path()
        getattr(model, action)(value)
        if action == "forget" and value in left:
            left.remove(value)
            assert before == value or model.path() == before, "another one that goes moves nothing"
        assert model.count() == len(left)
        assert model.path() == (left[model.index()] if left else "")


def test_neighbours_are_read_ahead_and_what_is_passed_is_dropped(model, service):
    model.open(PATHS, 2)
    assert asked(service) == ["/2.png"]
    model.prefetch()
    assert asked(service) == ["/2.png", "/3.png", "/1.png"]
    model.go_to(5)
    model.prefetch()
    assert asked(service)[3:] == ["/5.png", "/4.png"]
    told = []
    model.changed.connect(lambda: told.append(None))
    service.fail(method="pixels")
    assert told == [], "nobody waits for it any more"


def test_the_image_and_its_failure_are_told(model, service):
    model.open(PATHS, 0)
    assert model.image() is None
    service.fail("image_refused", "/0.png is damaged", method="pixels")
    assert model.problem() == "/0.png is damaged"
    model.step(1)
    assert model.problem() == ""
    model._loaded("/1.png", image())
    assert model.image().width() == 10


def test_what_was_read_is_shown_at_once_when_one_comes_back(model, service):
    model.open(PATHS, 0)
    model._loaded("/0.png", image())
    model.step(1)
    model.step(-1)
    assert model.image() is not None
    assert asked(service).count("/0.png") == 1


def test_memory_is_bounded_and_what_is_shown_or_marked_stays(model, service, monkeypatch):
    monkeypatch.setattr(viewer, "MOST_BYTES", 3 * image().sizeInBytes())
    model.open(PATHS, 0)
    model._loaded("/0.png", image())
    model.mark()
    for at in range(1, 6):
        model.step(1)
        model._loaded(PATHS[at], image())
        assert len(model._images) <= 3
        assert model.image() is not None
        assert model.before() is not None


def test_marking_compares_with_what_comes_next(model):
    model.open(PATHS, 0)
    model._loaded("/0.png", image(4))
    model.mark()
    assert model.is_marked()
    assert model.before() is None
    model.step(1)
    assert model.before().width() == 4
    assert model.marked() == "/0.png"
    model.mark()
    assert (model.marked(), model.before()) == ("", None)


def test_the_marked_one_that_is_deleted_is_no_longer_compared_with(model):
    model.open(PATHS, 0)
    model.mark()
    model.step(1)
    model.forget("/0.png")
    assert model.marked() == ""


def test_stars_are_shown_at_once_and_asked_for(model):
    wanted = []
    model.star_wanted.connect(lambda path, stars: wanted.append((path, stars)))
    model.open(PATHS, 0)
    assert model.rating() == 2
    model.star(9)
    assert (model.rating(), wanted) == (5, [("/0.png", 5)])
    model.step(1)
    assert model.rating() == 2
    model.open([], 0)
    model.star(3)
    assert (model.rating(), len(wanted)) == (None, 1)


def test_deleting_asks_and_the_last_one_ends_it(model):
    wanted, emptied = [], []
    model.delete_wanted.connect(wanted.append)
    model.emptied.connect(lambda: emptied.append(None))
    model.open(PATHS[:1], 0)
    model.delete()
    assert wanted == ["/0.png"]
    assert model.count() == 1, "it is there until somebody says that it is gone"
    model.forget("/0.png")
    assert emptied == [None]
    model.delete()
    assert wanted == ["/0.png"]


def test_words_are_read_only_where_they_are_wanted(model, service):
    model.open(PATHS, 0)
    model.prefetch()
    assert service.open("metadata") == []
    model.set_metadata_wanted(True)
    model.step(1)
    service.answer(says(prompt="of 0"), method="metadata")
    assert model.metadata() is None
    model.prefetch()
    service.answer(says(prompt="of 1"), method="metadata")
    assert model.metadata().prompt == "of 1"


def test_copied_settings_are_read_first(model, service):
    copied, told = [], []
    model.copied.connect(copied.append)
    model.message.connect(told.append)
    model.open(PATHS, 0)
    model.copy_settings()
    assert copied == []
    service.answer(says(), method="metadata")
    assert "a house" in copied[0]
    model.step(1)
    model.copy_settings()
    service.answer(says("unknown", None), method="metadata")
    model.step(1)
    model.copy_settings()
    service.fail("image_refused", "no", method="metadata")
    assert len(copied) == 1
    assert len(told) == 2


def test_closing_lets_go_of_everything(model, service):
    model.open(PATHS, 0)
    model._loaded("/0.png", image())
    model.close()
    assert model._images == {}
    told = []
    model.changed.connect(lambda: told.append(None))
    service.fail(method="pixels")
    assert told == []

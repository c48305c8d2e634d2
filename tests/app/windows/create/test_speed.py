"""Options that trade fidelity for speed on the Create page."""

import pytest
from create_page import kit_of, page_of

from mezzotint.values.sizes import AUTO_TILE
from mezzotint_app.viewmodel.create.command_line import command_line

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def choose(control, value):
    place = next(place for place, one in enumerate(control.choices()) if one.value == value)
    control.setCurrentIndex(place)
    control.activated.emit(place)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tokens", ("todo", 0.75), ["--tokens", "todo:0.75"]),
        ("tokens", ("merge", 0.5), ["--tokens", "merge:0.5"]),
        ("sparse_attention", ("pooled", None), ["--sparse-attention", "pooled"]),
        ("sparse_attention", ("tiles", None), ["--sparse-attention", "tiles"]),
        ("deep_shrink", (2.0, 0.35), ["--deep-shrink", "2:0.35"]),
        ("step_cache", 0.1, ["--step-cache", "0.1"]),
        ("denoise_tile", AUTO_TILE, ["--denoise-tile", "auto"]),
    ],
)
def test_a_choice_is_requested_and_copied_as_a_command(kit, page, name, value, words):
    control = page.sections.speed.controls[name]
    assert control.value() is None and page.sections.speed.summary() == ""
    choose(control, value)
    request = kit.create.request()
    assert getattr(request.cascade.stages[0].sampling, name) == value
    written = command_line(request).words
    assert written[written.index(words[0]) + 1] == words[1]
    page.show_model()
    assert control.value() == value and page.sections.speed.summary()
    choose(control, None)
    assert getattr(kit.create.request().cascade.stages[0].sampling, name) is None


def test_another_value_from_an_image_is_shown_as_it_is_written(kit, page):
    kit.create.chosen.change(
        tokens=("merge", 0.3), sparse_attention=("window", 0.4), deep_shrink=(1.25, 0.5), step_cache=0.07
    )
    kit.create.chosen.change(denoise_tile=640)
    page.show_model()
    controls = page.sections.speed.controls
    shown = [control.currentText() for control in controls.values()]
    assert shown == ["Similar tokens merged (ToMe): 0.3", "Nearby tiles: 0.4", "1.25:0.5", "0.07", "640"]


def test_plans_are_asked_with_them(kit, page):
    kit.create.chosen.change(tokens=("todo", 0.75), sparse_attention=("pooled", 0.5))
    asked = kit.create._plan_request()
    assert asked is None or (asked.tokens, asked.sparse_attention) == (("todo", 0.75), ("pooled", 0.5))

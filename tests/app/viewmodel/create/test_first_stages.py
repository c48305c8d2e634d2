"""What first stages made goes with the finished image of the same job and place, whatever comes in between."""

from typing import Any

import pytest
from create_page import generated
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QImage

from mezzotint.protocol import Saved, StageShown
from mezzotint_app.viewmodel.create.first_stages import MOST_KEPT, FirstStages

pytestmark = pytest.mark.requires_package("PySide6")


def shown(image, jpeg, stage=0):
    return StageShown(image=image, images=9, stage=stage, stages=2, jpeg=jpeg)


def saved(index, path):
    return Saved(image=generated(path, index=index), images=9)


def painted(text):
    """An image whose colour is the text's."""
    image = QImage(2, 2, QImage.Format.Format_RGB32)
    image.fill(QColor(text))
    return image if text else QImage()


@pytest.fixture
def stages(inline):
    made: Any = FirstStages(inline, painted)
    made.seen = []
    made.changed.connect(lambda: made.seen.append(made.image().pixelColor(0, 0).name()))
    return made


def test_it_comes_when_the_finished_image_is_looked_at_already(stages):
    stages.hear(saved(0, "/a.png"))
    stages.show("/a.png")
    assert stages.image().isNull()
    stages.hear(shown(0, "#102030"))
    assert stages.seen == ["#102030"]
    stages.show("/other.png")
    assert stages.image().isNull()
    stages.show("/a.png")
    assert stages.seen == ["#102030"] * 2


@pytest.mark.parametrize("event", [shown(1, "#102030"), shown(0, "#102030", stage=1), shown(0, "")])
def test_what_belongs_to_no_finished_image_or_is_none_is_left_out(stages, event):
    stages.hear(saved(0, "/a.png"))
    stages.show("/a.png")
    stages.hear(event)
    assert stages.seen == [] and stages.image().isNull()


def test_an_image_of_the_job_before_gets_nothing(stages):
    stages.hear(saved(0, "/a.png"))
    stages.show("/a.png")
    stages.begin()
    stages.hear(shown(0, "#102030"))
    assert stages.image().isNull()


def test_a_late_one_is_not_shown_beside_another_image(stages, inline):
    stages.hear(saved(0, "/a.png"))
    stages.show("/a.png")
    inline.held = True
    stages.hear(shown(0, "#102030"))
    stages.show("/b.png")
    inline.go()
    assert stages.seen == [] and stages.image().isNull()


@given(st.lists(st.integers(0, 60), max_size=80))
def test_only_the_last_ones_are_kept(order):
    made: Any = FirstStages(_Inline(), painted)
    for place in order:
        made.hear(saved(place, f"/{place}.png"))
        made.hear(shown(place, "#102030"))
    newest = list(dict.fromkeys(reversed(order)))
    for place in set(order):
        made.show(f"/{place}.png")
        assert made.image().isNull() == (place not in newest[:MOST_KEPT])


class _Inline:
    def run(self, work, then=None, failed=None):
        then(work())

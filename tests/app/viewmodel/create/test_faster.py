"""Advice is applied to the page as it says, and undone."""

from dataclasses import replace

import pytest
from create_page import FakeLife
from made_plans import plan

from mezzotint.protocol import Advice
from mezzotint_app.viewmodel.create.faster import Faster
from mezzotint_app.viewmodel.create.preflight import Preflight
from mezzotint_app.viewmodel.create.state import CreateSettings

WEIGHTS = Advice(kind="weights", seconds=10.0, loss=0.008, quantization="int8")
CACHE = Advice(kind="cache", seconds=None, loss=0.023, step_cache=-1.0)
HIRES = Advice(kind="hires", seconds=5.0, size=(1024, 704), hires=1.5)
TURBO = Advice(kind="model", seconds=2.0, model="turbo", steps=4)
EVERY = (TURBO, HIRES, WEIGHTS, CACHE)


class Chosen:
    def __init__(self):
        self.now, self.of = "base", {}

    def model(self):
        return self.now

    def set_model(self, name):
        self.now = name

    def settings(self):
        return self.of.get(self.now, CreateSettings())

    def replace(self, settings):
        self.of[self.now] = settings

    def change(self, **fields):
        self.replace(replace(self.settings(), **fields))


class Images:
    image = None

    def path(self):
        return self.image

    def decides_size(self):
        return False


@pytest.fixture
def faster(service, qapp):
    preflight = Preflight(service, FakeLife())
    preflight._wanted = preflight._answers_to = object()
    preflight._plan = plan(seconds=20.0, advice=EVERY)
    return Faster(Chosen(), preflight, Images())


def test_each_is_told_with_its_time_and_cost(faster):
    assert [faster.words(one) for one in faster.advice()] == [
        "turbo, in 4 steps: about 2 s instead of about 20 s. Images look different.",
        "1024×704, then a second pass at 1.5×: about 5 s instead of about 20 s. "
        "Less of the image is made at its full size.",
        "8-bit weights: about 10 s instead of about 20 s. Images differ by 0.8 %, as measured on the bundled models.",
        "Step cache: how much depends on the image. Images differ by 2.3 %, as measured on the bundled models.",
    ]
    faster._preflight.expect(3, 100.0)  # as earlier images took
    assert "about 50 s instead of about 2 min" in faster.words(WEIGHTS)


@pytest.mark.parametrize("advice", EVERY, ids=lambda one: one.kind)
def test_one_click_sets_it_and_one_undoes_it(faster, advice):
    chosen = faster._chosen
    chosen.change(steps=30)
    told = []
    faster.applied.connect(told.append)
    faster.apply(advice)
    assert told == [f"Set: {faster.words(advice).partition(':')[0]}. The same button undoes it."]
    settings = chosen.settings()
    assert chosen.model() == (advice.model or "base")
    assert settings.quantization == advice.quantization and settings.step_cache == advice.step_cache
    assert (settings.width, settings.height) == (advice.size or (None, None))
    assert (settings.second_pass, settings.second_scale) == (advice.hires is not None, advice.hires)
    assert faster.can_undo()
    faster.undo()
    assert (chosen.model(), chosen.settings()) == ("base", CreateSettings(steps=30))
    assert not faster.can_undo()


def test_a_later_change_is_not_undone_with_it(faster):
    faster.apply(WEIGHTS)
    faster._chosen.change(steps=5)
    faster.undo()
    assert faster._chosen.settings() == CreateSettings(steps=5, quantization="int8")


def test_what_does_not_go_with_the_settings_is_left_out(faster):
    faster._chosen.change(second_pass=True, controls=(object(),))
    assert faster.advice() == (WEIGHTS,)
    faster._chosen.change(second_pass=False)
    faster._images.image = "picture.png"
    assert faster.advice() == (TURBO, WEIGHTS)
    faster._preflight._answers_to = None
    assert faster.advice() == ()

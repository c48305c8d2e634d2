"""Magnitudes of inputs: the same, whether the scheme is chosen alone or by `auto`."""

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Busy, UsageError
from mezzotint.jobs.calibration import auto as auto_module
from mezzotint.jobs.calibration import calibration
from mezzotint.jobs.calibration import inputs as module
from mezzotint.jobs.calibration.auto import AutoQuantization
from mezzotint.jobs.calibration.inputs import input_magnitudes
from mezzotint.jobs.lease import Lease
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.protocol import ModelRef
from mezzotint.quantization.policy import Choice

SVDQUANT = Choice(scheme="svdquant")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """One step is enough."""
    monkeypatch.setattr(calibration, "MOST_MEASURED", 1)
    monkeypatch.setattr(module, "STEPS", 1)
    monkeypatch.setattr(auto_module, "STEPS", 1)


@pytest.fixture
def engine():
    with Engine(Catalog.standard()) as made:
        yield made


def magnitudes_of(folder, engine, told=lambda _: None):
    found = Catalog.standard().find(ModelRef(id=str(folder)))
    return input_magnitudes(found, SVDQUANT, engine, "cpu", told, lambda: False)


def test_auto_smooths_by_the_same_magnitudes_as_the_scheme_alone(engine, wide_pixart):
    alone = magnitudes_of(wide_pixart, engine)
    found = Catalog.standard().find(ModelRef(id=str(wide_pixart)))
    card = ordinary_machine(2**30, 2**34)
    auto = AutoQuantization(found=found, choice=Choice(scheme="int8"), schemes=("svdquant",), card=card, device="cpu")
    recordings = auto._recordings(engine, lambda _: None, lambda: False)
    assert alone.keys() == auto.formats.keys()
    assert all(recordings[name].magnitudes.equal(magnitudes) for name, magnitudes in alone.items())


def test_a_model_that_makes_no_image_alone_is_told_and_not_smoothed(engine, wide_pixart, monkeypatch):
    events = []

    def refuse(*_):
        raise UsageError("a refiner needs an image")

    monkeypatch.setattr(Engine, "generate", refuse)
    assert magnitudes_of(wide_pixart, engine, events.append) == {}
    assert [event.code for event in events] == ["not_calibrated"] and "a refiner needs an image" in events[0].message


def test_a_device_in_use(engine, wide_pixart):
    with Lease.acquire(what="the window"), pytest.raises(Busy, match="the window"):
        magnitudes_of(wide_pixart, engine)

"""Scheme `auto` from the model to the copy: small enough by the plan, recorded, readable."""

import json
from dataclasses import replace

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.conversion.model import RECORD_FILE, Conversion, convert
from mezzotint.engine import Engine
from mezzotint.errors import Busy, Cancelled, ModelRefused, UsageError
from mezzotint.families.footprints import footprint_of
from mezzotint.families.known import family_of
from mezzotint.families.loading.precision import parts_of
from mezzotint.jobs.calibration import auto as module
from mezzotint.jobs.calibration import calibration
from mezzotint.jobs.calibration.auto import AutoQuantization
from mezzotint.jobs.lease import Lease
from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.memory.planning.planner import with_headroom
from mezzotint.protocol import SCHEMES, ModelRef, Notice
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.policy import Choice

GB = 2**30


def never():
    return False


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """One image of one step is enough."""
    monkeypatch.setattr(calibration, "MOST_MEASURED", 2)
    monkeypatch.setattr(module, "STEPS", 1)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """The denoisers of the small models are smaller than their encoders, which take no memory here."""

    def footprint(*given, **named):
        found = footprint_of(*given, **named)
        return replace(found, components=(found.denoiser,))

    monkeypatch.setattr(module, "footprint_of", footprint)


@pytest.fixture
def engine():
    with Engine(Catalog.standard()) as made:
        yield made


def auto_for(folder, vram=8 * GB, **changes):
    found = Catalog.standard().find(ModelRef(id=str(folder)))
    changes.setdefault("card", ordinary_machine(vram, 16 * GB))
    return AutoQuantization(found=found, choice=Choice(scheme="int8"), schemes=SCHEMES, **changes)


def tight(folder, share, **changes):
    """A choice for a card on which this share of what can be saved has to be."""
    auto = auto_for(folder, **changes)
    exact = auto.target._beside + auto.target._weights({})
    saved = int(share * sum(auto._most_saved().values()))
    return replace(
        auto,
        card=replace(auto.card, **dict.fromkeys(("vram_bytes", "free_vram_bytes"), with_headroom(exact - saved, 10))),
    )


def test_the_copy_fits_by_the_plan_and_is_read_back(engine, small_pixart, tmp_path):
    auto = tight(small_pixart, 0.7)
    chosen = auto.choose(engine, lambda _: None, never)
    assert chosen.formats and chosen.target.fits(chosen.mix.saved) and not chosen.target.fits({})
    sources = auto._sources
    copy = tmp_path / "copy"
    mixed = {chosen.component: chosen.formats}
    convert(Conversion(sources=sources, choices={}, output=copy, mixed=mixed, record=chosen.record()))
    told = json.loads((copy / RECORD_FILE).read_text())
    layers = told["components"][chosen.component]
    assert {name: each["scheme"] for name, each in layers.items() if each["scheme"] != "16 bits"} == {
        name: each.scheme for name, each in chosen.formats.items()
    }
    found = Catalog.standard().find(ModelRef(id=str(copy)))
    stored = family_of(found.detected.family).sources(found.checkpoint, found.detected)
    counted = next(part for part in parts_of(stored) if part.name == chosen.component).layers
    schemes = [each.scheme for each in chosen.formats.values()]
    assert {scheme: counted[scheme] for scheme in set(schemes)} == {scheme: schemes.count(scheme) for scheme in schemes}
    assert found.info.scheme == max(set(schemes), key=schemes.count)
    again = auto_for(copy)
    with pytest.raises(ModelRefused, match="quantized already"):
        again.choose(engine, lambda _: None, never)
    tables = chosen.target._weights(chosen.mix.saved) - again.target.model.denoiser.bytes("none")
    assert 0 <= tables <= 4096  # made when the network is, and in no file


def test_a_larger_card_has_a_smaller_error(engine, small_pixart):
    errors, times = [], []
    for share in (0.3, 1.0):
        chosen = tight(small_pixart, share).choose(engine, lambda _: None, never)
        errors.append(chosen.mix.error)
        times.append(chosen.mix.seconds)
    assert errors == sorted(errors) and errors[0] < errors[-1]
    assert all(0.5 < each < 1.3 for each in times)


def test_4_bit_floats_are_fast_where_they_are_multiplied_and_not_chosen_elsewhere(engine, small_pixart):
    new, old = (auto_for(small_pixart, card=ordinary_machine(GB, GB, known_card(f"RTX {n}"))) for n in (5090, 4090))
    assert new._speed(Nvfp4()) > new._speed(Int8(dynamic=True)) > 1 > new._speed(Nvfp4(dynamic=False))
    assert old._speed(Nvfp4()) == old._speed(Nvfp4(dynamic=False)) < 1
    chosen = tight(small_pixart, 0.8, card=ordinary_machine(GB, 16 * GB, known_card("RTX 4090")))
    assert "nvfp4" not in {each.scheme for each in chosen.choose(engine, lambda _: None, never).formats.values()}


def test_a_card_with_room_needs_nothing_and_measures_nothing(engine, small_pixart):
    events = []
    chosen = auto_for(small_pixart).choose(engine, events.append, never)
    assert not chosen.formats and chosen.plan.fits and not events


def test_a_card_that_no_mix_fits_is_refused_before_anything_is_loaded(engine, small_pixart):
    events = []
    with pytest.raises(UsageError, match="no mix of schemes"):
        tight(small_pixart, 1.5).choose(engine, events.append, never)
    assert not events


def test_a_model_that_makes_no_image_alone_is_measured_by_its_weights(engine, small_pixart, monkeypatch):
    events = []

    def refuse(*_):
        raise UsageError("a refiner needs an image")

    monkeypatch.setattr(Engine, "generate", refuse)
    chosen = tight(small_pixart, 0.7).choose(engine, events.append, never)
    assert chosen.formats
    assert any(isinstance(event, Notice) and "a refiner needs an image" in event.message for event in events)


def test_a_device_in_use(engine, small_pixart):
    lease = Lease.acquire(what="the window")
    with lease, pytest.raises(Busy, match="the window"):
        tight(small_pixart, 0.7).choose(engine, lambda _: None, never)


def test_it_stops_when_asked(engine, small_pixart):
    with pytest.raises(Cancelled):
        tight(small_pixart, 0.7).choose(engine, lambda _: None, lambda: True)

"""The curated list."""

from types import SimpleNamespace
from urllib.parse import urlsplit

from mezzotint.catalog.looking import RECOMMENDED
from mezzotint.library.downloads.source import HubSource, source_of
from mezzotint.library.known_models import known_models
from mezzotint.memory.footprints.shipped import shipped
from mezzotint.protocol import PlanRequest
from mezzotint.stages.planning import planned


def making(vram=None):
    """Those that make images."""
    return [model for model in known_models(vram) if model.planned_as]


def test_each_can_be_fetched_and_planned():
    models = known_models()
    assert len({model.id for model in models}) == len(models) >= 8
    for model in models:
        assert isinstance(source_of(model.id), HubSource)
        assert urlsplit(model.licence_url).scheme == "https" and model.licence and model.good_at and model.title
        assert model.runs and (model.family in RECOMMENDED or shipped(model.planned_as))
    assert set(RECOMMENDED.values()) == {model.id for model in models if not model.planned_as}


def test_what_memory_is_told_is_what_a_plan_needs():
    """With so much a plan fits, and with a byte less none does."""
    for model in making():

        def fits(vram, name=model.planned_as):
            request = PlanRequest(models=(name,), vram_bytes=vram, ram_bytes=2**38, memory="lowest")
            return planned(request, lambda: None).fits

        assert fits(model.smallest_vram_bytes) and not fits(model.smallest_vram_bytes - 1)


def test_sizes_are_those_of_the_weights():
    """In 16 bits, or in 32: what is published is one of both, or a mixture."""
    for model in making():
        halves = sum(part.bytes("none") for part in shipped(model.planned_as).components)
        assert 0.95 * halves < model.bytes < 2.1 * halves, model.id


def test_how_each_runs_is_what_a_plan_expects(monkeypatch):
    """With the least VRAM each runs, with a byte less none does; with much the small ones run well."""
    memory = SimpleNamespace(total=2**38, available=2**38)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    runs = {model.planned_as: model.how_it_runs for model in making(80 << 30)}
    assert (runs["z-image"], runs["sdxl"], runs["qwen-image"]) == ("well", "well", "slower")
    for model in making():
        least = {
            vram: next(one.how_it_runs for one in making(vram) if one.planned_as == model.planned_as)
            for vram in (model.smallest_vram_bytes - 1, model.smallest_vram_bytes)
        }
        assert list(least.values()) in (["not", "slower"], ["not", "well"]), model.planned_as
    assert {model.how_it_runs for model in making()} == {None}

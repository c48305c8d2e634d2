"""Images are made up to their last step, and nothing of them is kept."""

from collections import Counter

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.jobs.calibration import calibration as module
from mezzotint.jobs.calibration.calibration import CalibrationRun
from mezzotint.protocol import Decoding, ModelRef, Progress, Saved, Step
from mezzotint.quantization.layers import layers_of


def never():
    return False


@pytest.fixture
def engine():
    with Engine(Catalog.standard()) as made:
        yield made


def run_of(folder, **changes):
    found = Catalog.standard().find(ModelRef(id=str(folder)))
    sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
    component = family_of(found.detected.family).denoiser_component
    source = sources.components[component]
    layers = {layer.name: layer.shape for layer in layers_of(empty_network(source))}
    values = {"class_name": source.class_name, "layers": layers, "steps": 2, "prompts": ("a red house",)}
    return CalibrationRun(model=ModelRef(id=str(folder)), **values | changes)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("model", ["small_pixart", "small_sdxl"])
def test_every_layer_is_seen_and_measured(request, engine, model, monkeypatch):
    monkeypatch.setattr(module, "MOST_MEASURED", 5)
    folder, events = request.getfixturevalue(model), []
    run = run_of(folder)
    found = run.record(engine, events.append, never)
    assert found.keys() == run.layers.keys()
    assert all(each.samples is not None for each in found.values())
    idle = [name for name, each in found.items() if not each.work]
    assert all(name.endswith(("attn2.to_k", "attn2.to_v")) or "caption" in name for name in idle)  # once a prompt
    for name, shape in run.layers.items():
        assert found[name].samples[0].numel() == shape[1] * (shape[2] * shape[3] if len(shape) == 4 else 1)
    influential = [each.influence for each in found.values() if each.influence is not None]
    assert len(influential) == 5 and all(each >= 0 for each in influential)
    kinds = Counter(map(type, events))
    assert kinds[Step] == 2 and kinds[Progress] == len(influential)
    assert not kinds[Saved] and not kinds[Decoding]


def test_the_same_run_records_the_same(engine, small_pixart):
    run = run_of(small_pixart)
    one, other = (run.record(engine, lambda _: None, never) for _ in range(2))
    assert all(one[name].samples.equal(other[name].samples) for name in run.layers)
    assert all(one[name].influence == other[name].influence for name in run.layers)


def test_it_stops_when_asked(engine, small_pixart):
    with pytest.raises(Cancelled):
        run_of(small_pixart).record(engine, lambda _: None, lambda: True)


def test_some_of_many_layers_always_the_same_ones(monkeypatch):
    monkeypatch.setattr(module, "MOST_MEASURED", 5)
    names = [str(number) for number in range(100)]
    some = module._some(names)
    assert len(some) == 5 and some == module._some(names) and list(some) == sorted(some, key=int)
    assert module._some(names[:5]) == tuple(names[:5])

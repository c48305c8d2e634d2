"""Complete trainings of every kind of adapter: a resumed one writes the same file, which generation reads."""

from functools import partial

import pytest
from flow_parity import ours
from safetensors.torch import load_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import Cancelled
from mezzotint.jobs.training import samples
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import LoraRef, ModelRef, Sampling, Stage
from mezzotint.training_protocol import EpochSaved, TrainingRequest, TrainingSettings, TrainingStep

STEPS = 4
KINDS = {
    "embedding": {"kind": "embedding", "vectors": 2, "validation": 0.25, "rate": 0.05},
    "text encoders": {"text_encoders": True, "layers": "all", "ranks": "mid_block=2"},
    "dora": {"kind": "dora"},
    "lokr": {"kind": "lokr", "factor": 4, "layers": "all"},
}


@pytest.fixture(params=KINDS)
def request_of(request, pictures, tiny_sdxl_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "Stage", partial(Stage, width=64, height=64, sampling=Sampling(steps=2)))
    settings = TrainingSettings(
        **{"steps": STEPS, "epochs": 2, "batch": 2, "resolution": 64, "regularization": 0, "rate": 1e-2, "rank": None}
        | KINDS[request.param]
    )

    def make(folder):
        return TrainingRequest(
            dataset=str(pictures),
            model=ModelRef(id=str(tiny_sdxl_folder)),
            name="zibble",
            output=str(tmp_path / folder),
            word="castle",
            prompts=("a zibble",) if settings.kind == "embedding" else (),
            settings=settings,
        )

    return make


def run(request, *, stop_after=None, resume=False):
    """Train; return all events, up to a step after which it is paused."""
    events = []

    def stopped():
        return stop_after is not None and any(getattr(each, "step", 0) == stop_after for each in events)

    training = TrainingRun(request, Catalog.standard(), events.append, stopped)
    if stop_after is None:
        training.run(resume=resume)
    else:
        with pytest.raises(Cancelled, match=f"after step {stop_after}"):
            training.run(resume=resume)
    return events


@pytest.mark.slow
def test_a_resumed_training_writes_the_same_file_which_changes_images(request_of, tmp_path, tiny_sdxl_folder):
    whole, halves = request_of("whole"), request_of("halves")
    events = run(whole)
    run(halves, stop_after=2)  # while it makes the first sample, if there is any
    run(halves, resume=True)
    first, second = (load_file(tmp_path / each / "zibble.safetensors") for each in ("whole", "halves"))
    assert first.keys() == second.keys()
    assert all(first[name].equal(second[name]) for name in first)
    assert sum(isinstance(each, TrainingStep) for each in events) == STEPS
    saved = [each for each in events if isinstance(each, EpochSaved)]
    assert len(saved) == 2 and all(len(each.samples) == len(whole.prompts) for each in saved)
    path = tmp_path / "whole" / "zibble.safetensors"
    is_embedding = whole.settings.kind == "embedding"
    used = {"embeddings": (str(path),)} if is_embedding else {"loras": (LoraRef(path=str(path)),)}
    plain, made = (ours(tiny_sdxl_folder, tmp_path, steps=2, prompt="a zibble", **how) for how in ({}, used))
    assert (plain != made).any()

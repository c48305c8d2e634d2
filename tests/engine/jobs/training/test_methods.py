"""A training by its methods: begun, paused, listed, gone on with; what cannot be done is refused."""

from pathlib import Path

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import Cancelled, UsageError
from mezzotint.jobs.training.methods import train, training_methods
from mezzotint.training_protocol import (
    CaptionEdit,
    EpochSaved,
    TrainingCheck,
    TrainingJob,
    TrainingRuns,
    TrainingStep,
)


def never():
    return False


@pytest.fixture
def runs(tmp_path):
    def read(folder=None):
        method = training_methods(Catalog.standard)["training_runs"]
        return method.run(TrainingRuns(folders=(str(folder or tmp_path / "loras"),)), lambda _: None, never)

    return read


def test_a_training_is_paused_found_and_gone_on_with(request_for, tiny_pixart_folder, runs, tmp_path):
    events, request = [], request_for(tiny_pixart_folder)

    def stop():
        return any(isinstance(event, EpochSaved) for event in events)

    with pytest.raises(Cancelled):
        train(TrainingJob(request=request), Catalog.standard(), events.append, stop)
    (paused,) = runs()
    assert paused.request == request and paused.lora is None
    assert (paused.step, paused.steps, [one.epoch for one in paused.epochs]) == (1, 2, [1])
    assert Path(paused.paused_lora).is_file() and [one.step for one in paused.losses] == [1]

    moved = tmp_path / "elsewhere" / "tower.training"
    moved.parent.mkdir()
    Path(paused.folder).rename(moved)
    (found,) = runs(moved.parent)
    assert found.request.name == "tower" and Path(found.epochs[0].path).is_relative_to(moved)

    result = train(TrainingJob(resume=str(moved)), Catalog.standard(), events.append, never)
    assert [event.step for event in events if isinstance(event, TrainingStep)] == [1, 2]
    (done,) = runs(moved)
    assert done.lora == result.lora == str(moved.parent / "tower.safetensors")
    assert (done.step, done.paused_lora) == (2, None) and len(done.epochs) == 2


def test_a_pause_during_the_samples_of_an_epoch_loses_no_step(request_for, runs):
    events, request = [], request_for("starter-dit", prompts=("a zibble",))

    def stop():
        return any(isinstance(event, TrainingStep) for event in events)

    with pytest.raises(Cancelled):
        train(TrainingJob(request=request), Catalog.standard(), events.append, stop)
    (paused,) = runs()
    assert [(one.step, one.samples) for one in paused.epochs] == [(1, ())] and len(paused.base_samples) == 1
    assert (Path(paused.folder) / "state.safetensors").is_file() and paused.paused_lora is not None


@pytest.mark.parametrize("job", [TrainingJob(), TrainingJob(resume="relative")])
def test_a_job_that_is_none_is_refused(job):
    with pytest.raises(UsageError):
        train(job, Catalog.standard(), lambda _: None, never)


def test_a_request_names_whole_paths(request_for, tiny_pixart_folder):
    with pytest.raises(UsageError, match="absolute"):
        train(
            TrainingJob(request=request_for(tiny_pixart_folder, dataset="castles")),
            Catalog.standard(),
            lambda _: None,
            never,
        )


def test_a_caption_and_a_check(request_for, tiny_pixart_folder, castles):
    methods = training_methods(Catalog.standard)
    edit = CaptionEdit(image=str(castles / "2.png"), captions=("a blue castle",))
    assert methods["training_caption"].run(edit, lambda _: None, never) == str(castles / "2.txt")
    found = methods["training_check"].run(request_for(tiny_pixart_folder), lambda _: None, never)
    assert isinstance(found, TrainingCheck) and found.captioned == 3

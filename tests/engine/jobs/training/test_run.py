"""A training from a folder of images to a LoRA; paused, killed and resumed, it ends in the same file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors import safe_open
from training_runs import SETTINGS, write_dataset

from mezzotint.atomic import atomic_write
from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import Busy, Cancelled, ModelRefused, StorageError, UsageError
from mezzotint.families.lora.file import open_lora
from mezzotint.jobs.lease import Lease
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import EpochSaved, Preparing, TrainingRequest, TrainingStep


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tiny_pixart_folder):
    """The tensors of the LoRA of a training without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    dataset = write_dataset(folder / "images")
    request = TrainingRequest(
        dataset=str(dataset),
        model=ModelRef(id=str(tiny_pixart_folder)),
        name="mine",
        output=str(folder),
        settings=SETTINGS,
    )
    return _tensors(TrainingRun(request, Catalog.standard(), lambda _: None, lambda: False).run().lora)


def after(step):
    """Raise at the end of a step."""

    def on_event(event):
        if isinstance(event, TrainingStep) and event.step == step:
            raise Killed

    return on_event


def test_a_lora_and_its_epochs(train, request_of, tmp_path):
    result, events = train(request_of(trigger="zibble", prompts=("a house",), validation=0.25))
    steps = [each for each in events if isinstance(each, TrainingStep)]
    epochs = [each for each in events if isinstance(each, EpochSaved)]
    assert [each.step for each in steps] == [1, 2, 3, 4, 5, 6]
    assert [(each.epoch, each.step) for each in epochs] == [(1, 3), (2, 6)] and result.epochs == tuple(epochs)
    assert {each.phase for each in events if isinstance(each, Preparing)} >= {"dataset", "captions", "images"}
    assert open_lora(Path(result.lora)).layers and all(open_lora(Path(each.path)).layers for each in epochs)
    assert all(Path(sample).is_file() for each in epochs for sample in each.samples)
    assert (tmp_path / "mine.training" / "samples" / "epoch-0000-0.png").is_file()
    assert all(each.validation > 0 for each in epochs)
    with safe_open(result.lora, "pt") as file:
        assert file.metadata()["modelspec.trigger_phrase"] == "zibble"
    assert not list(tmp_path.glob("**/.mezzotint-*"))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("family", ["pixart", "sdxl"])
def test_paused_and_resumed_it_is_the_same_file(train, request_of, tmp_path, family, request):
    model = request.getfixturevalue(f"tiny_{family}_folder")
    made = request_of(model, flip=True, ema=0.9, checkpointing="blocks", prompts=("a house",))
    seen = []
    with pytest.raises(Cancelled, match=r"paused after step 2 of 6; go on with"):
        train(made, cancelled=lambda: len(seen) >= 2, on_event=lambda e: seen.append(e) if _is_step(e) else None)
    paused, _ = train(made, resume=True)
    log = (tmp_path / "mine.training" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log if "loss" in line] == [1, 2, 3, 4, 5, 6]
    whole, _ = train(_renamed(made, tmp_path / "other"))
    assert _tensors(paused.lora) == _tensors(whole.lora)
    assert len(paused.epochs) == len(whole.epochs) == 2 and paused.loss == whole.loss


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("step", [1, 3, 4, 6])
def test_killed_at_a_step_it_is_the_same_file(train, request_of, tmp_path, step, whole):
    with pytest.raises(Killed):
        train(request_of(), on_event=after(step))
    resumed, _ = train(request_of(), resume=True)
    assert _tensors(resumed.lora) == whole
    steps = [json.loads(line) for line in (tmp_path / "mine.training" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in steps if "loss" in line] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("number", range(1, 12, 2))
def test_a_full_disk_leaves_something_to_go_on_with(train, request_of, tmp_path, monkeypatch, number, whole):
    writes = []

    def full(path, data, *, overwrite):
        writes.append(path)
        if len(writes) == number:
            raise StorageError(f"{path}: no space left on device")
        atomic_write(path, data, overwrite=overwrite)

    for module in ("folder", "run"):
        monkeypatch.setattr(f"mezzotint.jobs.training.{module}.atomic_write", full, raising=False)
    for module in ("training.state", "families.lora.writing"):
        monkeypatch.setattr(f"mezzotint.{module}.atomic_write", full, raising=False)
    began = True
    try:
        result, _ = train(request_of())
    except StorageError:
        began = (tmp_path / "mine.training" / "training.json").exists()
        result, _ = train(request_of(), resume=began)
    assert _tensors(result.lora) == whole


def test_a_folder_that_holds_a_training_is_left_alone(train, request_of):
    train(request_of())
    with pytest.raises(UsageError, match=r"mine\.safetensors exists already"):
        train(request_of())


def test_another_training_of_that_name_is_not_begun(train, request_of):
    with pytest.raises(Killed):
        train(request_of(), on_event=after(1))
    with pytest.raises(UsageError, match="holds a training already: go on with `mezzotint train --resume"):
        train(request_of())


def test_a_changed_dataset_is_told_and_accepted(train, request_of, dataset):
    with pytest.raises(Killed):
        train(request_of(), on_event=after(4))
    (dataset / "0.txt").write_text("a barn")
    with pytest.raises(UsageError, match="has changed since this training began"):
        train(request_of(), resume=True)
    train(request_of(), resume=True, accept_changes=True)


def test_a_damaged_record_or_state_is_refused(train, request_of, tmp_path):
    with pytest.raises(Killed):
        train(request_of(), on_event=after(4))
    state = tmp_path / "mine.training" / "state.safetensors"
    whole = state.read_bytes()
    state.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelRefused):
        train(request_of(), resume=True)
    state.write_bytes(whole)
    record = tmp_path / "mine.training" / "training.json"
    record.write_text(record.read_text().replace('"started"', '"stopped"'))
    with pytest.raises(ModelRefused, match=r"training\.json is damaged"):
        train(request_of(), resume=True)


def test_nothing_to_resume(train, request_of):
    with pytest.raises(UsageError, match="is not the folder of a training"):
        train(request_of(), resume=True)


def test_two_trainings_at_once_are_one_too_many(train, request_of):
    with Lease.acquire(what="the window"), pytest.raises(Busy, match="the device is in use by the window"):
        train(request_of())


def _is_step(event):
    return isinstance(event, TrainingStep)


def _renamed(request, folder):
    folder.mkdir(exist_ok=True)
    return replace(request, output=str(folder))


def _tensors(path):
    with safe_open(path, "np") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118

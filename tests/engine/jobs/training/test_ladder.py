"""A training that runs out of memory, anywhere, goes on with levers that need less, and ends in the same file."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open

from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import encode
from mezzotint.errors import DeviceLost, OutOfMemory
from mezzotint.jobs.training import ladder, run
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.jobs.training.preparing import prepare
from mezzotint.memory.accounting import ByteAccount, ByteLedger, uncounted
from mezzotint.training.planning import planner
from mezzotint.training.trainer import Trainer
from mezzotint.training_protocol import EpochSaved, TrainingLevers, TrainingNotice, TrainingStep

SETTINGS = {"steps": 3, "epochs": 2, "ema": 0.9, "validation": 0.25}
STEP = 500  # allocations, about


def device_shortage():
    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")


class Faults:
    """Fails once at each of these allocations, by the phase that they are in; counts those of each phase."""

    def __init__(self, *places, error=device_shortage):
        self.places, self.error, self.counts, self.phase = set(places), error, {}, "text"

    def __call__(self, *_):
        number = self.counts[self.phase] = self.counts.get(self.phase, -1) + 1
        if (self.phase, number) in self.places:
            self.places.remove((self.phase, number))
            raise self.error()
        return False


@pytest.fixture
def train_with(train, monkeypatch):
    """Train with faults; returns the result, and what is told of shortages."""
    go_down, enter = ladder.Ladder._go_down, ladder.Ladder.enter

    def call(request, faults, **options):
        def entered(self, phase):
            faults.phase = phase
            enter(self, phase)

        def gone_down(*arguments, **how):
            with uncounted():  # no faults while steps are traced
                go_down(*arguments, **how)

        monkeypatch.setattr(ladder.Ladder, "enter", entered)
        monkeypatch.setattr(ladder.Ladder, "_go_down", gone_down)
        with ByteAccount(ByteLedger(refuse=faults)):
            result, events = train(request, **options)
        return result, [each.message for each in events if isinstance(each, TrainingNotice)]

    return call


@pytest.fixture(scope="module")
def whole():
    """The tensors of an uninterrupted training; made by the first test that needs them."""
    kept = []

    def of(train, request):
        if not kept:
            kept.append(_tensors(train(replace(request, name="whole"))[0].lora))
        return kept[0]

    return of


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("number", [0, STEP, 2 * STEP, 3 * STEP])
def test_a_shortage_in_a_step_goes_on_with_checkpointing(train, train_with, request_of, tmp_path, whole, number):
    made = request_of(**SETTINGS)
    error = MemoryError if number % 1000 else device_shortage
    result, told = train_with(made, Faults(("network", number), error=error))
    assert len(told) == 1 and told[0].startswith("the training ran out of memory and goes on with checkpointing select")
    assert _tensors(result.lora) == whole(train, made)
    assert [each.step for each in result.epochs] == [2, 3] and _logged_steps(tmp_path) == [1, 2, 3]
    assert _record(tmp_path)["levers"]["checkpointing"] == "selective"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_at_every_so_many_an_allocation(train, train_with, request_of, whole, first):
    made = request_of(**SETTINGS)
    for number in range(first, 4000, 400):
        result, _ = train_with(replace(made, name=f"at-{number}"), Faults(("network", number)))
        assert _tensors(result.lora) == whole(train, made), number


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("place", [("text", 10), ("text", 300), ("images", 10), ("images", 200)])
def test_without_anything_that_needs_less_it_says_so_and_is_resumed(train, train_with, request_of, whole, place):
    made = request_of(**SETTINGS)
    what = {"text": "encoding captions", "images": "encoding images"}[place[0]]
    with pytest.raises(OutOfMemory, match=f"{what} ran out of memory, and nothing is left .* about .* are needed") as e:
        train_with(made, Faults(place))
    assert "mezzotint train --resume -o" in str(e.value) and "close other programs" in str(e.value)
    assert _tensors(train(made, resume=True)[0].lora) == whole(train, made)


def test_down_to_the_end_and_resumed(train, request_of, tmp_path, monkeypatch, whole):
    made, step = request_of(**SETTINGS, quantization="none"), Trainer.train_step

    def short(self, *arguments):
        if self.step == 1:
            raise device_shortage()
        return step(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_step", short)
        with pytest.raises(OutOfMemory, match=r"nothing is left that needs less \(checkpointing selective, ") as error:
            train(made)
    assert "smaller --resolution, --batch or --rank, and without --checkpointing, " in str(error.value)
    assert _record(tmp_path)["levers"]["checkpointing"] == "selective"  # two blocks: others need no less
    result, events = train(made, resume=True)
    assert [each.step for each in events if isinstance(each, TrainingStep)] == [2, 3]
    assert _tensors(result.lora) == whole(train, made)


@pytest.mark.slow
def test_sample_images_are_made_in_tiles_then_left_out(train, train_with, request_of, monkeypatch, tmp_path, whole):
    monkeypatch.setattr(ladder, "_TILES", (48,))
    made, events = request_of(**SETTINGS, prompts=("a house",)), []
    faults = Faults(("samples", 3000))
    result, told = train_with(made, faults, on_event=events.append)
    assert told == [f"making sample images ran out of memory and goes on with images in tiles of 48 pixels: {_words()}"]
    assert _tensors(result.lora) == whole(train, made) and all(each.samples for each in result.epochs)
    monkeypatch.setattr(ladder, "_TILES", ())
    result, told = train_with(replace(made, name="none"), Faults(("samples", 10)))
    assert told == [f"making sample images ran out of memory: the training goes on without them: {_words()}"]
    assert _tensors(result.lora) == whole(train, made) and not any(each.samples for each in result.epochs)


def test_numbers_that_a_shortage_left_half_changed_are_not_saved(train, request_of, monkeypatch, whole):
    made, step, failed = request_of(**SETTINGS), Trainer._optimizer_step, []

    def half(self):
        if self.step == 2 and not failed:
            failed.append(True)
            self.is_settled = False
            with torch.no_grad():
                self.adapter.parameters()[0].add_(1)
            raise device_shortage()
        step(self)

    monkeypatch.setattr(Trainer, "_optimizer_step", half)
    assert _tensors(train(made)[0].lora) == whole(train, made) and failed


def test_saving_fails_too_and_the_last_state_is_used(train, request_of, monkeypatch, whole):
    made, save, asked = request_of(**SETTINGS), Trainer.save, []

    def failing(self, *arguments):
        asked.append(self.step)
        if self.step == 1:
            raise MemoryError
        save(self, *arguments)

    step = Trainer.train_step

    def short(self, *arguments):
        if self.step == 1 and 1 not in asked:
            raise device_shortage()
        return step(self, *arguments)

    monkeypatch.setattr(Trainer, "save", failing)
    monkeypatch.setattr(Trainer, "train_step", short)
    assert _tensors(train(made)[0].lora) == whole(train, made) and 1 in asked


@pytest.mark.slow
def test_a_shortage_while_the_state_is_read_is_overcome(train, request_of, monkeypatch, whole):
    made, restore, failed = request_of(**SETTINGS), Trainer.restore, []
    with pytest.raises(KeyboardInterrupt):
        train(made, on_event=_stopping_after(3))

    def short(self, path):
        if not failed:
            failed.append(restore(self, path))
            raise device_shortage()
        return restore(self, path)

    monkeypatch.setattr(Trainer, "restore", short)
    assert _tensors(train(made, resume=True)[0].lora) == whole(train, made) and failed


@pytest.mark.parametrize("words", ["an illegal memory access was encountered", "unspecified launch failure"])
def test_a_lost_device_leaves_the_last_state(train, request_of, tmp_path, monkeypatch, whole, words):
    made, step = request_of(**SETTINGS), Trainer.train_step

    def lost(self, *arguments):
        if self.step == 2:
            raise RuntimeError(f"CUDA error: {words}\nCompile with TORCH_USE_CUDA_DSA")
        return step(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_step", lost)
        with pytest.raises(
            DeviceLost, match=rf"the GPU driver failed: CUDA error: {words}; .* saved last is kept"
        ) as e:
            train(made)
    assert f"`mezzotint train --resume -o {tmp_path / 'mine'}`" in str(e.value)
    result, events = train(made, resume=True)
    assert [each.step for each in events if isinstance(each, TrainingStep)] == [3]
    assert [each.step for each in result.epochs] == [2, 3] and not list(tmp_path.glob("**/.mezzotint-*"))
    assert _tensors(result.lora) == whole(train, made)


def test_an_epoch_that_was_cut_off_after_its_state_is_made(train, request_of, tmp_path, monkeypatch, whole):
    made, validation = request_of(**SETTINGS), Trainer.validation_loss
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "validation_loss", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train(made)
    assert Trainer.validation_loss is validation
    result, events = train(made, resume=True)
    assert [each.step for each in events if isinstance(each, EpochSaved)] == [2, 3]
    assert _tensors(result.lora) == whole(train, made)


def test_resuming_uses_the_levers_of_last_time(train, request_of, tmp_path, monkeypatch):
    used, built = [], run.build_trainer

    def watched(prepared, levers, *arguments):
        used.append(levers)
        return built(prepared, levers, *arguments)

    monkeypatch.setattr(run, "build_trainer", watched)
    with pytest.raises(KeyboardInterrupt):
        train(request_of(**SETTINGS), on_event=_stopping_after(2))
    folder, wanted = RunFolder(tmp_path / "mine.training"), TrainingLevers(checkpointing="sqrt", batch=2, vae_tile=48)
    folder.change(levers=encode(wanted))
    train(request_of(**SETTINGS), resume=True)
    assert used == [TrainingLevers(batch=2), wanted]


def test_one_of_several_processes_does_not_go_on_alone(request_of, tmp_path):
    prepared = prepare(request_of(), Catalog.standard(), lambda _: None, lambda: False)
    steps = ladder.Ladder(prepared, TrainingLevers(batch=2), RunFolder(tmp_path / "mine.training"), lambda *_: None)
    steps.enter("network")

    def short():
        raise device_shortage()

    with pytest.raises(OutOfMemory, match="the training ran out of memory, and one of several processes cannot go on"):
        steps.run(short, can_retry=False)


class TestOnACard:
    """What is next, for a device that is none."""

    @pytest.fixture
    def levers_after(self, request_of, tmp_path, monkeypatch):
        def call(phase, levers, *, begun=False, **settings):
            prepared = prepare(request_of(**settings), Catalog.standard(), lambda _: None, lambda: False)
            card = replace(prepared.model, device=replace(prepared.model.device, id="cuda:0"))
            monkeypatch.setattr(ladder, "machine_of", lambda _: _machine())
            folder = RunFolder(tmp_path / "other.training")
            if not folder.path.exists():
                folder.create(prepared.request, {"started": "2026-01-01T00:00:00+00:00"})
            if begun:
                folder.state.write_bytes(b"")
            steps = ladder.Ladder(replace(prepared, model=card), levers, folder, lambda *_: None)
            steps.enter(phase)
            return steps._next()

        return call

    def test_captions_are_encoded_on_the_cpu(self, levers_after):
        levers = TrainingLevers(batch=2)
        assert levers_after("text", levers) == replace(levers, text_on_cpu=True)
        assert levers_after("text", replace(levers, text_on_cpu=True)) is None

    def test_images_are_encoded_in_smaller_and_smaller_tiles(self, levers_after):
        levers = TrainingLevers(text_on_cpu=True)
        tiles = [levers_after("images", replace(levers, vae_tile=each), resolution=1024) for each in (0, 768, 256)]
        assert [each.vae_tile for each in tiles] == [768, 512, 128] and all(each.text_on_cpu for each in tiles)
        assert levers_after("samples", replace(levers, vae_tile=128), resolution=1024) is None

    def test_an_optimizer_changes_only_before_the_first_state(self, levers_after, monkeypatch):
        monkeypatch.setattr(planner, "_SCHEMES", ("none",))
        last = TrainingLevers(checkpointing="sqrt", batch=2, vae_tile=256)
        monkeypatch.setattr("mezzotint.jobs.training.planning.has_8bit", lambda: True)
        found = levers_after("network", last)
        assert found.optimizer == "adamw-8bit" and found.vae_tile == 256
        assert levers_after("network", last, begun=True) is None


def _machine():
    from mezzotint.memory.machine.probe import ordinary_machine

    return ordinary_machine(2**33, 2**34)


def _words():
    return str(device_shortage())


def _stopping_after(step):
    def on_event(event):
        if isinstance(event, TrainingStep) and event.step == step:
            raise KeyboardInterrupt

    return on_event


def _record(folder):
    return json.loads((folder / "mine.training" / "training.json").read_text())


def _logged_steps(folder):
    lines = map(json.loads, (folder / "mine.training" / "log.jsonl").read_text().splitlines())
    return [line["step"] for line in lines if "loss" in line]


def _tensors(path):
    with safe_open(path, "np") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118

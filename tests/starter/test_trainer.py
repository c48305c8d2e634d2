from functools import partial
from itertools import pairwise

import pytest
import torch
from torch import nn

from mezzotint.errors import StorageError
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.state import load_tensors, save_tensors
from mezzotint_starter.trainer import (
    Trainer,
    TrainingSchedule,
    learning_rate,
    save_state,
    shard_losses,
    train,
    train_together,
)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 1))


def loss_of(net):
    def loss_at(step, shard):
        inputs = torch.randn(8, 3, generator=step_generator(0, "test", step))
        return (net(inputs[shard]).squeeze(1) - inputs[shard].sum(dim=1)).square().mean()

    return loss_at


def run(path, steps, *, parts=1, stop=None):
    net = network()
    trainer = Trainer(net, TrainingSchedule(phase="test", steps=steps, peak_lr=1e-2, parts=parts, save_seconds=0.0))

    def after():
        if trainer.step == stop:
            raise KeyboardInterrupt

    train(trainer, path, loss_of(net), after)
    return net.state_dict()


def test_stopping_and_going_on_gives_the_weights_of_not_stopping(tmp_path):
    whole = run(tmp_path / "whole", 12)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", 12, stop=5)
    again = run(tmp_path / "parts", 12)
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def run_rivals(path, steps, *, stop=None):
    nets = {"first/": network(), "second/": network()}
    schedule = TrainingSchedule(phase="test", steps=steps, peak_lr=1e-2, save_seconds=0.0)
    trainers = {name: Trainer(net, schedule) for name, net in nets.items()}

    def advance(step):
        losses = [trainers[name].train_step(shard_losses(loss_of(net), step, 1)) for name, net in nets.items()]
        return losses[0]

    def after():
        if trainers["first/"].step == stop:
            raise KeyboardInterrupt

    train_together(trainers, path, advance, after)
    return {prefix + name: value for prefix, net in nets.items() for name, value in net.state_dict().items()}


def test_networks_that_learn_in_step_go_on_as_if_they_had_not_stopped(tmp_path):
    whole = run_rivals(tmp_path / "whole", 12)
    with pytest.raises(KeyboardInterrupt):
        run_rivals(tmp_path / "parts", 12, stop=5)
    again = run_rivals(tmp_path / "parts", 12)
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_a_batch_learnt_in_parts_gives_nearly_the_same_weights(tmp_path):
    whole, halves = run(tmp_path / "whole", 10), run(tmp_path / "halves", 10, parts=2)
    for name in whole:
        torch.testing.assert_close(whole[name], halves[name], atol=1e-4, rtol=1e-3)


def test_training_lowers_the_loss(tmp_path):
    net = network()
    before = loss_of(net)(0, slice(None)).item()
    train(
        Trainer(net, TrainingSchedule(phase="test", steps=150, peak_lr=1e-2, ema_decay=0.9)),
        tmp_path / "s",
        loss_of(net),
    )
    assert loss_of(net)(0, slice(None)).item() < before / 4


def test_swapping_averages_twice_changes_nothing():
    trainer = Trainer(network(), TrainingSchedule(phase="test", steps=5, peak_lr=1e-2))
    for step in range(3):
        trainer.train_step([partial(loss_of(trainer.network), step, slice(None))])
    before = {name: value.clone() for name, value in trainer.network.state_dict().items()}
    trainer.swap_averages()
    assert any(not torch.equal(before[name], value) for name, value in trainer.network.state_dict().items())
    trainer.swap_averages()
    assert all(torch.equal(before[name], value) for name, value in trainer.network.state_dict().items())


def test_the_rate_rises_stays_and_falls():
    schedule = TrainingSchedule(phase="test", steps=1000, peak_lr=1.0, warm_up=100, decay_share=0.4)
    rates = [learning_rate(schedule, step) for step in range(1000)]
    assert rates[0] == pytest.approx(0.01)
    assert rates[100:600] == pytest.approx([1.0] * 500)
    assert all(late <= early for early, late in pairwise(rates[600:]))
    assert rates[-1] < 0.02


def test_states_are_replaced_whole(tmp_path):
    path = tmp_path / "deep" / "state.safetensors"
    assert load_tensors(path) is None
    save_tensors(path, {"a": torch.ones(2)}, {"step": 1})
    save_tensors(path, {"a": torch.zeros(2)}, {"step": 2})
    found = load_tensors(path)
    assert found is not None
    tensors, numbers = found
    assert (tensors["a"].tolist(), numbers) == ([0, 0], {"step": 2})
    assert [file.name for file in path.parent.iterdir()] == ["state.safetensors"]


def test_a_full_disk_is_told_in_one_line(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mezzotint_starter.state.save_file", full)
    with pytest.raises(StorageError, match="free some space"):
        save_state({"": Trainer(network(), TrainingSchedule(phase="test", steps=1, peak_lr=1.0))}, tmp_path / "state")


def test_random_numbers_depend_on_seed_phase_and_step_alone():
    def draw(*key):
        return torch.rand(1, generator=step_generator(*key)).item(), step_random(*key).random()

    assert draw(0, "a", 1) == draw(0, "a", 1)
    assert len({draw(0, "a", 1), draw(1, "a", 1), draw(0, "b", 1), draw(0, "a", 2)}) == 4

"""The judge's training in miniature."""

import json

import pytest
import torch

from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint.benchmarks.postcards.judge import build_judge, load_judge
from mezzotint.benchmarks.postcards.world import is_held_out, judging_scene, training_scene
from mezzotint_starter import judge_training
from mezzotint_starter.judge_training import (
    drawn_accuracy,
    judge_batch,
    judging_loss,
    make_judge,
    train_judge,
    true_values,
)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(judge_training, "BATCH", 4)
    monkeypatch.setattr(judge_training, "CHUNK", 4)


def train(work, steps, parts=1):
    return train_judge(work, seed=0, steps=steps, device="cpu", parts=parts)


def test_a_row_of_a_batch_is_the_same_in_any_shard():
    pixels, answers = judge_batch(0, 3, range(4))
    odd_pixels, odd_answers = judge_batch(0, 3, range(1, 4, 2))
    assert torch.equal(pixels[1::2], odd_pixels)
    assert torch.equal(answers[1::2], odd_answers)
    assert not torch.equal(pixels, judge_batch(0, 4, range(4))[0])


def test_no_held_out_combination_is_trained_on(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        judge_training, "true_values", lambda scenes: drawn.extend(scenes) or torch.zeros(len(scenes), 6)
    )
    for step in range(8):
        judge_batch(0, step, range(4))
    assert len(drawn) == 32
    assert not any(is_held_out(scene) for scene in drawn)
    assert is_held_out(judging_scene(0, 0))


def test_true_values_are_the_scene_s_own():
    scene = training_scene(0, 5)
    told = dict(zip(VALUES, true_values([scene])[0].tolist(), strict=True))
    assert VALUES["kind"][told["kind"]] == scene.things[0].kind
    assert VALUES["colour"][told["colour"]] == scene.things[0].colour
    assert VALUES["weather"][told["weather"]] == scene.weather


def test_the_loss_is_nothing_for_the_right_values_and_the_log_of_their_number_for_no_opinion():
    answers = true_values([training_scene(0, index) for index in range(3)])
    sure = {
        name: torch.nn.functional.one_hot(answers[:, place], len(values)) * 100.0
        for place, (name, values) in enumerate(VALUES.items())
    }
    blind = {name: torch.zeros_like(scores) for name, scores in sure.items()}
    assert judging_loss(sure, answers).item() == pytest.approx(0, abs=1e-6)
    wanted = torch.tensor([len(values) for values in VALUES.values()]).log().mean()
    assert judging_loss(blind, answers).item() == pytest.approx(wanted.item())


def test_a_few_steps_teach_it_something():
    judge = build_judge(0)
    optimizer = torch.optim.AdamW(judge.parameters(), lr=2e-3)
    pixels, answers = judge_batch(0, 0, range(4))
    losses = []
    for _ in range(12):
        losses.append(judging_loss(judge(pixels), answers))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0] / 2


def test_stopped_and_gone_on_it_is_the_same(tmp_path, monkeypatch):
    whole = train(tmp_path / "whole", 4)
    saved = judge_training.train

    class Stopped(Exception):
        pass

    def stop_after_two(trainer, state, loss_at):
        def stopping(step, shard):
            if step == 2:
                from mezzotint_starter.trainer import save_state

                save_state({"": trainer}, state)
                raise Stopped
            return loss_at(step, shard)

        saved(trainer, state, stopping)

    monkeypatch.setattr(judge_training, "train", stop_after_two)
    with pytest.raises(Stopped):
        train(tmp_path / "parts", 4)
    monkeypatch.setattr(judge_training, "train", saved)
    again = train(tmp_path / "parts", 4)
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), again.parameters(), strict=True))


def test_two_threads_learn_what_one_learns(tmp_path):
    one, two = train(tmp_path / "one", 1), train(tmp_path / "two", 1, parts=2)
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


def test_accuracy_counts_what_is_right(monkeypatch):
    judge = build_judge(0).eval()
    first = dict.fromkeys(VALUES, 0)
    monkeypatch.setattr(
        judge, "forward", lambda pixels: {name: torch.eye(len(v))[[0] * len(pixels)] for name, v in VALUES.items()}
    )
    truth = true_values([judging_scene(0, number) for number in range(6)])
    shares = [(truth[:, place] == value).float().mean().item() for place, value in enumerate(first.values())]
    for faulty in (False, True):
        found = drawn_accuracy(judge, seed=0, device="cpu", count=6, faulty=faulty)
        assert list(found.values()) == pytest.approx(shares)


def test_the_whole_phase_writes_a_judge_that_can_be_used(tmp_path):
    found = make_judge(tmp_path / "work", tmp_path / "judge", seed=0, steps=2, device="cpu", examined=6)
    assert list(found) == list(VALUES)
    load_judge(tmp_path / "judge")
    trained = json.loads((tmp_path / "judge" / "config.json").read_text("utf-8"))["trained"]
    assert trained["steps"] == 2
    assert trained["accuracy"] == {name: round(share, 4) for name, share in found.items()}

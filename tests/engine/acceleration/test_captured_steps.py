"""Passes captured as CUDA graphs: the same numbers by replays, anew where something moved, and none where it fails."""

import pytest
import torch
from fake_card.install import fake_card
from fake_card.state import Hazard
from torch import nn

from mezzotint.acceleration import captured_steps
from mezzotint.acceleration.captured_steps import KEPT, CapturedSteps
from mezzotint.acceleration.text_cache import CachedLayer
from mezzotint.protocol import GraphsUsed


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner = nn.Linear(8, 8)
        self.calls = 0
        self.waits = False

    def forward(self, x, timestep, *, text):
        self.calls += 1
        if self.waits:
            x = x * float(x.sum())
        return (torch.tanh(self.inner(x) * timestep) + text["words"].sum(dim=0),)


@pytest.fixture
def card():
    with fake_card(2**30) as card, torch.inference_mode():
        yield card


@pytest.fixture
def network(card):
    return Network().requires_grad_(False).to("cuda:0")


@pytest.fixture
def told():
    return []


@pytest.fixture
def captures(told):
    return CapturedSteps(lambda *words: told.append(words))


def whole():
    return ""


def steps(network, text, count=5, seed=1):
    """What a network gives at each step, on the processor."""
    drawn = torch.Generator().manual_seed(seed)
    found = []
    for step in range(count):
        x = torch.randn(2, 8, generator=drawn).to("cuda:0")
        found.append(network(x, torch.tensor(float(step + 1)).to("cuda:0"), text=text)[0].cpu())
    return found


def words(value=1.0):
    return {"words": torch.full((3, 8), value).to("cuda:0")}


def same(a, b):
    return all(torch.equal(one, other) for one, other in zip(a, b, strict=True))


def test_replays_give_the_same_without_python(network, captures, told, card):
    text = words()
    plain = steps(network, text)
    network.calls = 0
    with captures.running(network, whole):
        assert same(steps(network, text), plain)
        assert card.device().pools > 0
    assert network.calls == 2, "once as ever, once to be captured"
    assert captures.used == GraphsUsed(captured=1, replayed=4, eager=1, reason="") and told == []
    assert card.operations["graph"] == 4 and card.device().pools == 0 and "forward" not in vars(network)


def test_other_words_are_another_graph_and_too_many_are_none(network, captures):
    texts = [words(float(n)) for n in range(KEPT + 1)]
    plain = [steps(network, text, 1)[0] for text in texts]
    with captures.running(network, whole):
        for _ in range(3):
            assert same([steps(network, text, 1)[0] for text in texts[:2]], plain[:2])
        assert (captures.used.captured, captures.used.eager) == (2, 2)
        captures.forget()
        for _ in range(2):
            assert same([steps(network, text, 1)[0] for text in texts], plain)
    assert captures.used.captured == 2 and "alternate" in captures.used.reason


def test_weights_that_moved_are_captured_anew(network, captures):
    text = words()
    with captures.running(network, whole):
        steps(network, text, 2)
        network.inner._parameters["weight"] = nn.Parameter(network.inner.weight * 2, requires_grad=False)
        moved = steps(network, text, 2)
    assert captures.used.captured == 2 and same(moved, steps(network, text, 2))


def test_calls_that_a_replay_makes_are_counted(network, told):
    captures = CapturedSteps(lambda *_: None, counts=((network, "calls"),))
    with captures.running(network, whole):
        steps(network, words(), 5)
    assert network.calls == 5


def test_what_waits_for_the_host_is_not_captured_and_told_once(network, captures, told):
    text, network.waits = words(), True
    plain = steps(network, text)
    with captures.running(network, whole):
        assert same(steps(network, text), plain)
    assert (captures.used.replayed, captures.used.eager) == (0, 5)
    assert "not permitted when stream is capturing" in captures.used.reason
    assert [code for code, _ in told] == ["not_captured"]


def test_what_is_refused_runs_as_ever_and_lets_go(network, captures, card):
    text, why = words(), [""]
    with captures.running(network, lambda: why[0]):
        steps(network, text, 3)
        why[0] = "3 blocks are streamed"
        assert same(steps(network, text, 2), steps(network, text, 2)) and card.device().pools == 0
    assert captures.used == GraphsUsed(captured=1, replayed=2, eager=5, reason="3 blocks are streamed")


def test_a_pass_of_something_new_finds_the_memory_of_graphs_free(network, captures, card):
    text, other = words(), words(2.0)
    with captures.running(network, whole):
        steps(network, text, 2)
        assert card.device().pools > 0
        steps(network, other, 1)
        assert card.device().pools == 0
        assert same(steps(network, text, 2), steps(network, text, 2)) and card.device().pools > 0
    assert captures.used == GraphsUsed(captured=2, replayed=5, eager=2, reason="")


class Remembering(nn.Module):
    """Sees the words through a layer that remembers two of them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.words, self.waits = CachedLayer(nn.Linear(8, 8)), False

    def forward(self, x, timestep, *, text):
        y = x * timestep + self.words(text).sum(dim=(0, 1))
        return (y * float(y.sum()) if self.waits else y,)


@pytest.mark.parametrize("waits", [False, True])
def test_what_is_remembered_of_the_words_outlasts_the_memory(card, captures, waits):
    network = Remembering().requires_grad_(False).to("cuda:0")
    texts = [torch.full((1, 3, 8), float(n)).to("cuda:0") for n in range(3)]
    plain = [steps(network, text, 1)[0] for text in texts]
    with captures.running(network, whole):
        assert same([steps(network, text, 1)[0] for text in texts], plain)
        network.waits = waits
        for _ in range(2):
            for n in (0,) if waits else (2, 0, 1):  # the last is remembered still, and not for long
                found = steps(network, texts[n], 1)
                assert waits or same(found, plain[n : n + 1])
        network.waits = False
        assert same([steps(network, text, 1)[0] for text in texts], plain)
    assert card.hazards == [] and bool(captures.failure) is waits


def test_an_input_that_is_not_copied_is_seen(network, captures):
    text = words()
    plain = steps(network, text)
    with captures.running(network, whole):
        steps(network, text, 2)
        (held,) = captures._graphs.values()
        buffers, held.inputs = held.inputs, (None, None)
        assert len(buffers) == 2 and not same(steps(network, text), plain)


def test_a_graph_over_weights_that_are_gone_is_seen(network, captures, monkeypatch):
    text = words()
    monkeypatch.setattr(captured_steps, "_in_place", lambda places: True)
    with captures.running(network, whole):
        steps(network, text, 2)
        network.inner._parameters["weight"] = nn.Parameter(network.inner.weight * 2, requires_grad=False)
        for held in captures._graphs.values():
            held.places = ()  # which hold the old weights, as nothing else does
        with pytest.raises(Hazard, match="freed since"):
            steps(network, text, 1)

"""What is recorded of a network's layers: the very inputs, work, influence; within bounded memory."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from mezzotint.acceleration.text_cache import CachedLayer
from mezzotint.conversion.auto.layers import Recording
from mezzotint.errors import Cancelled
from mezzotint.jobs.calibration import recording as module
from mezzotint.jobs.calibration.recording import ROWS, Recorder, rows_of, tensor_of


class Denoiser(nn.Module):
    """Two layers in a row; one that is called and whose output is used by a hundredth; one that is never called."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 4)
        self.aside, self.idle = nn.Linear(6, 4), nn.Linear(6, 4)

    def forward(self, x, *, scale=1.0):
        return (self.last(self.first(x)) * scale + 0.01 * self.aside(x),)


NAMES = ("first", "last", "aside", "idle")


def recorder(network, **changes):
    shapes = {name: tuple(network.get_submodule(name).weight.shape) for name in NAMES}
    values = {
        "class_name": "Denoiser",
        "layers": shapes,
        "others": (),
        "calls": 4,
        "replayed": -1,
        "measured": (),
        "on_layer": lambda *_: None,
        "cancelled": lambda: False,
    }
    return Recorder(**values | changes)


@torch.no_grad()
def test_rows_are_inputs_of_the_layer():
    network, x = Denoiser(), torch.randn(2, 50, 6)
    made = recorder(network)
    with made.recording():
        network(x)
    rows, inside = made.recordings["first"].samples, made.recordings["last"].samples
    assert len(rows) == ROWS // 4
    assert all(any(row.equal(each) for each in x.flatten(0, 1)) for row in rows)
    assert inside.shape[1] == 8
    assert "idle" not in made.recordings


@torch.no_grad()
def test_rows_come_from_all_calls_and_stay_bounded(monkeypatch):
    network = Denoiser()
    made = recorder(network)
    with made.recording():
        for number in range(20):
            network(torch.full((1, 500, 6), float(number)))
    rows = made.recordings["first"].samples
    assert len(rows) == ROWS and set(rows[:, 0].tolist()) == {0, 1, 2, 3}
    monkeypatch.setattr(module, "SAMPLE_BYTES", 4 * (6 + 8 + 6 + 6) * 8)
    made = recorder(network)
    with made.recording():
        for _ in range(20):
            network(torch.zeros(1, 500, 6))
    assert len(made.recordings["first"].samples) == 8


@torch.no_grad()
def test_work_is_that_of_one_pass():
    network = Denoiser()
    made = recorder(network)
    with made.recording():
        for _ in range(3):
            network(torch.randn(2, 5, 6))
    assert made.recordings["first"].work == 2 * 10 * 6 * 8


@torch.no_grad()
def test_layers_of_which_only_the_work_counts():
    network = Denoiser()
    made = recorder(network, layers={"first": (8, 6)}, others=("last",))
    with made.recording():
        network(torch.randn(2, 5, 6))
    assert made.recordings["last"].work == 2 * 10 * 8 * 4 and made.recordings["last"].samples is None


@torch.no_grad()
def test_influence_is_the_change_of_the_output():
    network, told = Denoiser(), []
    made = recorder(network, replayed=1, measured=NAMES, on_layer=lambda *done: told.append(done))
    x = torch.randn(4, 50, 6)
    with made.recording():
        for _ in range(3):
            made_output = network(x, scale=2.0)
    first, last, aside = (made.recordings[name].influence for name in ("first", "last", "aside"))
    assert 0.3 < last < 1.5 and 0.3 < first < 2
    assert aside < 0.05
    assert made.recordings["idle"].influence is None if "idle" in made.recordings else True
    assert told == [(number, 4) for number in range(1, 5)]
    assert made_output[0].equal(network(x, scale=2.0)[0])
    assert made.recordings["first"].work == 2 * 200 * 6 * 8


class Guided(nn.Module):
    """The first layer serves both halves alike, the last one only the second."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6)
        self.aside, self.idle = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x):
        y, more = self.first(x), self.last(x)
        more = torch.cat([torch.zeros_like(more[: len(x) // 2]), more[len(x) // 2 :]])
        return torch.cat([y + more, 100 * torch.randn_like(y)], dim=1)


@torch.no_grad()
def test_guidance_amplifies_what_halves_differ_in_and_other_channels_do_not_count():
    network, half = Guided(), torch.randn(1, 4, 5, 6)
    found = []
    for guidance in (0.0, 7.0):
        made = recorder(network, class_name="Guided", replayed=0, measured=("first", "last"), guidance=guidance)
        with made.recording():
            network(torch.cat([half, half]))
        found.append({name: made.recordings[name].influence for name in ("first", "last")})
    plain, guided = found
    assert plain["first"] < 2 and guided["last"] / guided["first"] > 3 * plain["last"] / plain["first"]


@torch.no_grad()
def test_what_is_computed_once_of_the_prompt_is_computed_again():
    network, x = Denoiser(), torch.randn(4, 50, 6)
    plain = recorder(network, replayed=1, measured=("first",))
    with plain.recording():
        network(x), network(x)
    network.first = CachedLayer(network.first)
    made = recorder(network, replayed=1, measured=("first",))
    with made.recording():
        network(x), network(x)
    assert made.recordings["first"].influence == pytest.approx(plain.recordings["first"].influence)


@torch.no_grad()
def test_no_hook_is_left():
    network = Denoiser()
    made = recorder(network)
    with made.recording():
        network(torch.randn(1, 5, 6))
    before = made.recordings["first"].samples
    network(torch.randn(1, 5, 6))
    assert made.recordings["first"].samples.equal(before)
    assert not any(each._forward_hooks for each in network.modules())
    assert not nn.modules.module._global_forward_pre_hooks


@torch.no_grad()
def test_it_stops_between_layers():
    network = Denoiser()
    made = recorder(network, replayed=0, measured=NAMES, cancelled=lambda: True)
    with pytest.raises(Cancelled, match="0 of 4 layers"), made.recording():
        network(torch.randn(1, 5, 6))
    assert not any(each._forward_hooks for each in network.modules())


@torch.no_grad()
@pytest.mark.parametrize(
    "options", [{}, {"padding": 1}, {"padding": (0, 2), "stride": 2}, {"dilation": 2, "padding": 3}]
)
def test_patches_are_what_a_convolution_sees(options):
    layer, x = nn.Conv2d(3, 5, (3, 2), bias=False, **options), torch.randn(2, 3, 9, 8)
    patches = rows_of(layer, x, 40, seed=1)
    seen = {tuple(each.tolist()) for each in layer(x).permute(0, 2, 3, 1).reshape(-1, 5).mul(1e4).round().int()}
    found = functional.linear(patches, layer.weight.flatten(1)).mul(1e4).round().int()
    near = [
        any(max(abs(a - b) for a, b in zip(row, each, strict=True)) <= 2 for each in seen) for row in found.tolist()
    ]
    assert patches.shape == (40, 18) and all(near)


def test_the_prediction_in_any_output():
    tensor = torch.zeros(1)
    assert tensor_of((tensor, 1)) is tensor and tensor_of({"sample": tensor}) is tensor and tensor_of(tensor) is tensor


def test_a_recording_starts_empty():
    assert Recording().samples is None and Recording().influence is None

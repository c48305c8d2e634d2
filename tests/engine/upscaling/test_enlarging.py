"""Enlarging in tiles: the same as in one piece, whatever the sizes, within the memory that was planned."""

import contextlib
import dataclasses

import numpy
import pytest
import torch
from PIL import Image
from torch import nn

from mezzotint.errors import Cancelled, ModelRefused, OutOfMemory
from mezzotint.memory.device import open_device
from mezzotint.upscaling.compact import Compact
from mezzotint.upscaling.enlarging import TILES, Enlarger, traced_needs
from mezzotint.upscaling.upscaler import Upscaler

CPU = torch.device("cpu")


@pytest.fixture
def compact():
    torch.manual_seed(3)
    return Upscaler(network=Compact(4, 1, 2).requires_grad_(False), scale=2, architecture="Compact")


def drawn(width, height):
    values = numpy.random.default_rng(5).integers(0, 256, (height, width, 3), dtype=numpy.uint8)
    return Image.fromarray(values)


def enlarger(upscaler, tile=64, **changes):
    usual = {
        "device": CPU,
        "dtype": torch.float32,
        "counting": contextlib.nullcontext,
        "on_tile": lambda done, total: None,
        "cancelled": lambda: False,
        "on_shortage": lambda tile: None,
    }
    return Enlarger(upscaler=upscaler, tile=tile, **usual | changes)


def pixels(image):
    return numpy.asarray(image).astype(int)


@pytest.mark.parametrize("size", [(150, 97), (64, 65), (3, 200)])
def test_tiles_leave_no_seam(compact, size):
    image, told = drawn(*size), []
    whole = enlarger(compact, tile=1024).enlarged(image)
    tiled = enlarger(compact, on_tile=lambda *each: told.append(each)).enlarged(image)
    assert whole.size == (2 * size[0], 2 * size[1])
    difference = abs(pixels(tiled) - pixels(whole))
    # Within 3 pixels of a tile's edge, which three convolutions see, blending gives it a weight of 3 / 17.
    assert difference.max() <= 40 and numpy.median(difference) == 0
    assert told == [(index + 1, len(told)) for index in range(len(told))]


class Breaks(nn.Module):
    def forward(self, x):
        return x.reshape(1, 0 // 0) if x.shape[-1] == 64 else x[..., 1:]


@pytest.mark.parametrize(("side", "why"), [(64, "ZeroDivisionError|by zero|modulo"), (80, r"makes \(1, 3, 80, 79\)")])
def test_a_network_that_fails_is_a_bad_file(side, why):
    broken = Upscaler(network=Breaks(), scale=1, architecture="Breaks")
    with pytest.raises(ModelRefused, match=f"cannot enlarge a tile of {side}x{side} pixels .*({why})"):
        enlarger(broken, tile=side).enlarged(drawn(side, side))


class Blocks(nn.Module):
    """Takes sides that are multiples of 8, and at least 16."""

    def forward(self, x):
        assert min(x.shape[-2:]) >= 16 and all(side % 8 == 0 for side in x.shape[-2:])
        return x.clone()


@pytest.mark.parametrize("size", [(1, 1), (17, 30), (100, 33)])
def test_sizes_are_continued_to_what_the_network_takes(size):
    image = drawn(*size)
    picky = Upscaler(network=Blocks(), scale=1, architecture="blocks", multiple=8, smallest=16)
    assert enlarger(picky, tile=60).enlarged(image).tobytes() == image.tobytes()


def test_plans_hold_and_the_largest_tile_is_taken(compact):
    needs = traced_needs(compact, torch.float32)
    assert needs is not None
    room = needs.of_tile(192, (500, 500)) * 1.2
    assert needs.largest_tile(room, (500, 500)) == 192
    device = open_device(CPU, cap=int(room), simulated=True, reading=False)
    tiles = enlarger(compact, 192, counting=device.counting)
    tiles.enlarged(drawn(200, 200))
    assert tiles.tile == 192 and device.peak_bytes() <= needs.of_tile(192, (500, 500))


def test_where_memory_runs_short_tiles_get_smaller(compact):
    needs = traced_needs(compact, torch.float32)
    cap, shorter = needs.of_tile(96, (500, 500)), []
    device = open_device(CPU, cap=cap, simulated=True, reading=False)
    small = enlarger(compact, 512, counting=device.counting, on_shortage=shorter.append)
    assert small.enlarged(drawn(300, 200)).size == (600, 400)
    assert shorter == [192, 128, 96] and device.peak_bytes() <= cap


def test_without_room_for_any_tile_it_says_so(compact):
    device = open_device(CPU, cap=1000, simulated=True, reading=False)
    with pytest.raises(OutOfMemory, match="not even a tile of 64 pixels"):
        enlarger(compact, 512, counting=device.counting).enlarged(drawn(100, 100))


def test_a_network_that_cannot_be_traced_is_not_planned():
    class Odd(nn.Module):
        def forward(self, x):
            return x * float(x.max())

    assert traced_needs(Upscaler(network=Odd(), scale=1, architecture="odd"), torch.float32) is None


def test_nan_is_reported(compact):
    broken = dataclasses.replace(compact, network=nn.Threshold(2, float("nan")), scale=1)
    with pytest.raises(ModelRefused, match="NaN"):
        enlarger(broken).enlarged(drawn(8, 8))


def test_it_stops_between_tiles(compact):
    done = []
    one = enlarger(compact, cancelled=lambda: len(done) == 2, on_tile=lambda *tile: done.append(tile))
    with pytest.raises(Cancelled):
        one.enlarged(drawn(150, 150))
    assert len(done) == 2


def test_tiles_are_listed_from_large_to_small():
    assert list(TILES) == sorted(TILES, reverse=True)

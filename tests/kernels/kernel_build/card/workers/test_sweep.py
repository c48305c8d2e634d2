"""Which instances are swept on which shape; that they run is seen on the emulator, by the stub."""

import io
import itertools

import pytest
import torch
from fake_kernels import FakeKernels, read_and_attend

from kernel_build.card import stub
from kernel_build.card.forced import Instance
from kernel_build.card.instances_file import kind_of
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.workers import sweep
from kernel_build.card.workers.sweep import chosen_name, instance_name, serves
from mezzotint.benchmarks import attention as benchmark
from mezzotint.benchmarks.attention import ASKED
from mezzotint.benchmarks.attention_shapes import Shape
from mezzotint_kernels.errors import KernelsError, Unsupported

FEW = Shape(group="cross", name="few", batch=1, heads=1, nq=8, nk=77, head_dim=64)
MANY = Shape(group="sdxl", name="many", batch=1, heads=1, nq=8, nk=333, head_dim=64)


def instance(number=0, kind="forward", **changes):
    values = {"head_dim": 64, "dtype": "bfloat16", "masked": False, "tile_m": 64, "tile_n": 80, "threads": 128}
    return Instance(**{"number": number, "kind": kind, "weight_bits": 0, "x_bits": 0} | values | changes)


ALL = [
    instance(0),
    instance(1, "short keys"),
    instance(2, "int8"),
    instance(3, masked=True),
    instance(4, head_dim=72),
    instance(5, dtype="float16"),
    instance(6, "int8-all"),
    instance(7, "int8-fp8"),
]


@pytest.mark.parametrize(
    ("shape", "asked", "masked", "numbers"),
    [
        (FEW, "flash", False, [0, 1]),
        (MANY, "flash", False, [0]),
        (MANY, "int8", False, [2]),
        (MANY, "int8-all", False, [6]),
        (MANY, "int8-fp8", False, [7]),
        (MANY, "flash", True, [3]),
        (MANY, "int8", True, []),
    ],
)
def test_an_instance_is_swept_where_it_can_do_it(shape, asked, masked, numbers):
    assert [each.number for each in ALL if serves(each, shape, "bfloat16", asked, masked)] == numbers


def test_an_instance_is_of_the_kind_of_what_would_be_chosen():
    for asked, masked in itertools.product(ASKED, (False, True)):
        made = instance(kind="forward" if asked == "flash" else asked, masked=masked)
        kinds = {kind_of(name, "sweep-attention") for name in (chosen_name(asked, masked), instance_name(made))}
        assert len(kinds) == 1, kinds


class FakeInstances:
    """Number 2 does not start, and number 3 is not for this card."""

    def attention(self):
        return ALL

    def run_attention(self, arguments, number, device, stream):
        if number == 2:
            raise KernelsError("it did not start")
        if number == 3:
            raise Unsupported("not for this card")
        assert bool(arguments.key_mask) == ALL[number].masked
        read_and_attend(arguments)


def test_each_is_run_by_its_number_and_what_does_not_run_is_a_row(monkeypatch):
    monkeypatch.setattr(stub, "emulated_attention", lambda: (FakeKernels(), FakeInstances()))
    monkeypatch.setattr(stub, "smallest_attention", lambda: [FEW])
    monkeypatch.setattr(benchmark, "milliseconds", lambda calls, device, captured: [call() for call in calls] and 1.0)
    out = io.StringIO()
    sweep.run(Teller((), out), ("attention",), True)
    rows = {row.item: row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)}
    ours = {f"few: {instance_name(ALL[number])}": number for number in (0, 1, 2, 3, 6, 7)}
    unmasked = ("int8-all", "int8-fp8")
    masks = [(asked, masked) for asked in ASKED for masked in (False, True) if not masked or asked not in unmasked]
    chosen = {f"few: {chosen_name(asked, masked)}" for asked, masked in masks}
    assert set(rows) == set(ours) | chosen
    assert {number: rows[name].problem for name, number in ours.items()} == {
        0: None,
        1: None,
        2: "it did not start",
        3: "not for this card",
        6: None,
        7: None,
    }
    assert rows[next(iter(ours))].measured["dtype"] == str(torch.bfloat16).removeprefix("torch.")

"""Which kernel a problem gets, on cards that are not here."""

from dataclasses import replace

import pytest
import torch
from emulated_kernels import FORWARD, HALF_SUMS, HOPPER, INT8, INT8_ALL, INT8_FP8, SHORT_KEYS, Emulator, Problem
from emulator_build import LEFT_OUT, build, copy_sources
from linear_instances import Card

from kernel_build.card.forced import instance_of
from kernel_build.card.machine import Device
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record
from kernel_build.card.swept_file import write_swept
from kernel_build.card.workers.sweep import instance_name

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

CARDS = {
    "RTX 2080 Ti": Card(architecture=75, multiprocessors=68, shared_bytes=64 * 1024),
    "A100": Card(architecture=80, multiprocessors=108, shared_bytes=163 * 1024),
    "RTX 3060": Card(architecture=86, multiprocessors=28, shared_bytes=99 * 1024),
    "RTX 4090": Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024),
    "H200": Card(architecture=90, multiprocessors=132, shared_bytes=227 * 1024),
    "B200": Card(architecture=100, multiprocessors=148, shared_bytes=227 * 1024),
    "RTX 5090": Card(architecture=120, multiprocessors=170, shared_bytes=99 * 1024),
}
TURING, H200 = CARDS["RTX 2080 Ti"], CARDS["H200"]
HEAD_DIMS = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
SDXL = Problem(head_dim=64, batch=2, heads=10, kv_heads=10, nq=4096, nk=4096)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_card_has_a_kernel_for_every_head_size(emulator, card, head_dim):
    for dtype in (torch.float16, torch.bfloat16):
        plan = emulator.plan(Problem(head_dim=head_dim, dtype=dtype, nq=4096, nk=4096), card)
        if card is TURING and dtype is torch.bfloat16:
            assert plan.instance is None
            assert f"head size {head_dim} in bfloat16 on architecture 75" in plan.text
        else:
            assert plan.instance.head_dim == head_dim
            assert plan.instance.shared_bytes <= card.shared_bytes
            assert plan.instance.kind == FORWARD


OWN = replace(SDXL, hopper=True)
OWN_HEADS = ((64, 64), (72, 96), (88, 96), (96, 96), (112, 128), (128, 128), (160, 192), (256, 256))


@pytest.mark.parametrize(("head_dim", "own"), OWN_HEADS)
def test_hopper_has_kernels_of_its_own(emulator, head_dim, own):
    problem = replace(OWN, head_dim=head_dim)
    found = emulator.plan(problem, H200)
    assert (found.instance.kind, found.instance.head_dim, found.workspace_bytes) == (HOPPER, own, 0)
    assert found.text.startswith(f"hopper bfloat16 d{head_dim} ")
    for card in (card for card in CARDS.values() if card not in (H200, TURING)):
        assert emulator.plan(problem, card).instance.kind == FORWARD


@pytest.mark.parametrize(
    ("problem", "changes"),
    [
        (OWN, {"key_lengths": 16}),  # rows behind the last key may be no numbers
        (OWN, {"flags": 64}),  # as is asked
        (replace(OWN, key_mask="random"), {}),
        (replace(OWN, bias="full"), {}),
        (replace(OWN, head_dim=512, heads=1, kv_heads=1), {}),
        (replace(OWN, nk=77), {}),  # few keys
        (replace(OWN, nk=0), {}),
        (SDXL, {}),  # strides of 0: the same for all heads
    ],
)
def test_what_hopper_takes_the_kernels_of_all_cards_for(emulator, problem, changes):
    plan = emulator.plan(problem, H200, **changes)
    assert plan.instance is not None and plan.instance.kind in (FORWARD, SHORT_KEYS)


@pytest.mark.parametrize("card", [card for card in CARDS.values() if card is not TURING])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_masks_have_kernels_of_their_own(emulator, card, head_dim):
    for masks in ({"key_mask": "random"}, {"bias": "full"}):
        plan = emulator.plan(Problem(head_dim=head_dim, **masks), card)
        assert plan.instance.masked
        assert plan.text.endswith(" masked")


def test_a_plan_names_its_kernel(emulator):
    plan = emulator.plan(SDXL, H200)
    assert plan.text == f"forward bfloat16 d64 {plan.instance.tile_m}x{plan.instance.tile_n}"
    assert plan.workspace_bytes == 0


def test_large_tiles_where_they_fill_the_card(emulator):
    assert emulator.plan(SDXL, H200).instance.tile_m == 128


def test_small_tiles_where_large_ones_would_leave_the_card_idle(emulator):
    few = replace(SDXL, batch=1, heads=8, kv_heads=8, nq=1024, nk=1024)  # 64 large tiles for 132 multiprocessors
    assert emulator.plan(few, H200).instance.tile_m == 64


def test_small_tiles_for_few_queries(emulator):
    assert emulator.plan(replace(SDXL, nq=64), H200).instance.tile_m == 64


@pytest.mark.parametrize("head_dim", [384, 512])
@pytest.mark.parametrize("card", [card for card in CARDS.values() if card is not TURING])
def test_an_autoencoder_keeps_all_parts_of_a_multiprocessor_busy(emulator, card, head_dim):
    image = Problem(head_dim=head_dim, heads=1, kv_heads=1, nq=16384, nk=16384)
    instance = emulator.plan(image, card).instance
    resident = (card.shared_bytes + 1024) // (instance.shared_bytes + 1024)
    assert resident * instance.threads >= 128


SWEPT = Problem(head_dim=128, dtype=torch.float16, heads=24, kv_heads=24, nq=4096, nk=4096)


@pytest.fixture
def sources(tmp_path):
    return copy_sources(tmp_path / "kernels", {"attention/float16_128"})


def sweep(folder, emulator, best, **changes):
    """Writes what a sweep on an H200 says, in which that instance was the fastest for SWEPT."""
    device = Device(name="NVIDIA H200", capability=(9, 0), torch="2.11", cuda="13.0", multiprocessors=132)
    record = Record(path=folder / "results.json", commit="abc", device=device)
    sizes = {name: getattr(SWEPT, name) for name in ("batch", "heads", "nq", "nk", "head_dim")} | changes
    for number in emulator.numbers(SWEPT):
        name = instance_name(instance_of(emulator.instances[number], number))
        measured = {"shape": "a shape", "implementation": name, "milliseconds": 2.0 - (number == best), "error": 0.001}
        record.add("sweep-attention", Row(item=name, measured=measured | sizes))
    assert write_swept(record, folder / "csrc" / "attention" / "swept.cpp") == 1


def test_what_was_swept_comes_before_what_is_estimated(sources):
    estimating = Emulator(build(sources, LEFT_OUT))
    estimated = estimating.plan(SWEPT, H200).text
    best = next(
        number
        for number in estimating.numbers(SWEPT)
        if (each := estimating.instances[number]).kind == FORWARD and f"{each.tile_m}x{each.tile_n}" not in estimated
    )
    sweep(sources, estimating, best)
    swept = Emulator(build(sources, LEFT_OUT))
    found = swept.plan(SWEPT, H200)
    assert found.text != estimated
    assert (found.instance.tile_m, found.instance.tile_n) == (
        swept.instances[best].tile_m,
        swept.instances[best].tile_n,
    )
    alike = replace(SWEPT, nk=4608)
    assert swept.plan(alike, H200).text == found.text
    for other, card in (
        (SWEPT, CARDS["A100"]),
        (replace(SWEPT, nk=2048), H200),
        (replace(SWEPT, nq=1024), H200),
        (replace(SWEPT, bias="full"), H200),
        (replace(SWEPT, int8=True), H200),
    ):
        assert swept.plan(other, card).text == estimating.plan(other, card).text


def test_an_instance_that_a_card_has_no_room_for_is_not_taken_from_a_sweep(sources):
    estimating = Emulator(build(sources, LEFT_OUT))
    largest = max(estimating.numbers(SWEPT), key=lambda number: estimating.instances[number].shared_bytes)
    sweep(sources, estimating, largest)
    small = replace(H200, shared_bytes=estimating.instances[largest].shared_bytes - 1)
    assert Emulator(build(sources, LEFT_OUT)).plan(SWEPT, small).text == estimating.plan(SWEPT, small).text


def test_a_text_is_held_at_once(emulator):
    plan = emulator.plan(replace(SDXL, nk=77), H200)
    assert plan.instance.kind == SHORT_KEYS
    assert plan.instance.tile_n == 80
    assert emulator.plan(replace(SDXL, nk=128), H200).instance.tile_n == 128
    assert emulator.plan(replace(SDXL, nk=129), H200).instance.kind == FORWARD


def test_int8_scores_only_where_they_are_asked_for(emulator):
    plan = emulator.plan(replace(SDXL, int8=True), H200)
    assert plan.instance.kind == INT8
    assert plan.text.startswith("int8 bfloat16 d64")
    tokens = SDXL.batch * SDXL.heads * SDXL.nq
    assert 4 * 64 * tokens < plan.workspace_bytes < 5 * 64 * tokens  # a byte of q and k each, two of v, and scales


@pytest.mark.parametrize("architecture", [75, 86, 89, 120])
def test_sums_in_float16_where_they_are_asked_for_and_faster(emulator, architecture):
    card = replace(H200, architecture=architecture, shared_bytes=64 * 1024)
    problem = replace(SDXL, dtype=torch.float16, half_sums=True)
    plan = emulator.plan(problem, card)
    assert plan.instance.kind == HALF_SUMS and plan.text.startswith("flash-fp16 float16 d64")
    assert plan.workspace_bytes >= 2 * 64 * SDXL.batch * SDXL.heads * SDXL.nk  # the values alone
    assert plan.workspace_bytes < 1.1 * 2 * 64 * SDXL.batch * SDXL.heads * SDXL.nk
    assert emulator.plan(replace(problem, half_sums=False), card).instance.kind == FORWARD


@pytest.mark.parametrize("architecture", [89, 120])
def test_8_bit_floats_where_they_are_asked_for_and_multiplied(emulator, architecture):
    card = replace(H200, architecture=architecture)
    plan = emulator.plan(replace(SDXL, int8_fp8=True), card)
    assert plan.instance.kind == INT8_FP8 and plan.text.startswith("int8-fp8 bfloat16 d64")
    assert plan.workspace_bytes == emulator.plan(replace(SDXL, int8_all=True), card).workspace_bytes
    masked = emulator.plan(replace(SDXL, int8_fp8=True, key_mask="random"), card)
    assert masked.text.startswith("no int8-fp8 kernel for head size 64 in bfloat16 with masks")


@pytest.mark.parametrize("architecture", [75, 80, 86, 90, 100])
def test_8_bit_floats_are_refused_where_they_would_be_widened(emulator, architecture):
    plan = emulator.plan(replace(SDXL, int8_fp8=True), replace(H200, architecture=architecture))
    assert plan.instance is None
    assert plan.text.startswith(f"no int8-fp8 kernel on architecture {architecture}, which has no products of 8-bit")


@pytest.mark.parametrize("architecture", [100, 103])
def test_scores_in_8_bits_are_refused_where_torch_s_of_16_are_faster(emulator, architecture):
    card = replace(H200, architecture=architecture)
    for problem, name in ((replace(SDXL, int8=True), "int8"), (replace(SDXL, int8_all=True), "int8-all")):
        plan = emulator.plan(problem, card)
        assert plan.instance is None
        assert plan.text == f"no {name} kernel on architecture {architecture}, where torch's of 16 bits is faster"
    assert emulator.plan(SDXL, card).text == emulator.plan(SDXL, H200).text


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_sums_in_float16_are_refused_where_they_are_no_faster(emulator, architecture):
    plan = emulator.plan(replace(SDXL, half_sums=True), replace(H200, architecture=architecture))
    assert plan.instance is None
    assert plan.text.startswith(f"no flash-fp16 kernel on architecture {architecture}, where products with 32-bit")


def test_all_int8_only_where_it_is_asked_for(emulator):
    plan = emulator.plan(replace(SDXL, int8_all=True), H200)
    assert plan.instance.kind == INT8_ALL
    assert plan.text.startswith("int8-all bfloat16 d64")
    assert 0 < plan.workspace_bytes < emulator.plan(replace(SDXL, int8=True), H200).workspace_bytes


@pytest.mark.parametrize("name", ["RTX 3060", "RTX 5090"])
def test_all_int8_of_narrow_heads_hides_what_is_around_its_products(emulator, name):
    problem = replace(SDXL, int8_all=True)
    assert emulator.plan(problem, CARDS[name]).text == "int8-all bfloat16 d64 192x64"
    assert emulator.plan(replace(problem, nq=64), CARDS[name]).instance.tile_m == 64
    assert emulator.plan(replace(problem, head_dim=128), CARDS[name]).instance.threads <= 256


def test_all_int8_that_there_is_not_says_so(emulator):
    for problem, words in (
        (Problem(head_dim=40, int8_all=True), "no int8-all kernel for head size 40 in bfloat16 on"),
        (replace(SDXL, int8_all=True, key_mask="random"), "no int8-all kernel for head size 64 in bfloat16 with masks"),
    ):
        plan = emulator.plan(problem, H200)
        assert plan.instance is None and plan.text.startswith(words)


def test_int8_scores_that_there_are_not_say_so(emulator):
    plan = emulator.plan(Problem(head_dim=40, int8=True), H200)
    assert plan.instance is None
    assert plan.text.startswith("no int8 kernel for head size 40 ")


@pytest.mark.parametrize("head_dim", [1, 24, 48, 65, 192, 1024])
def test_a_head_size_that_there_is_not_says_so(emulator, head_dim):
    plan = emulator.plan(Problem(head_dim=head_dim), H200)
    assert plan.instance is None
    assert f"head size {head_dim} in bfloat16" in plan.text


@pytest.mark.parametrize("int8", [False, True])
def test_a_grid_that_no_card_takes_is_refused(emulator, int8):
    problem = replace(SDXL, int8=int8)
    plan = emulator.plan(problem, H200, batch=1000, heads=3000, nq=100_000)
    assert plan.instance is None
    assert "more than a card's grid" in plan.text
    assert emulator.plan(problem, H200, batch=1000, heads=300, nq=100_000).instance is not None


def test_sizes_beyond_32_bits_are_refused(emulator):
    assert emulator.plan(SDXL, H200, nq=2**30, nk=2**30).instance is None


def test_too_little_shared_memory_is_told(emulator):
    plan = emulator.plan(replace(SDXL, head_dim=512), replace(H200, shared_bytes=16 * 1024))
    assert "with 16384 bytes of shared memory" in plan.text

"""The kernels of the page: operations and steps agree with the instructions that were counted."""

import pytest

from kernel_build.registers import read_table
from kernel_build.roofline.code import ARCHITECTURE, read_code
from kernel_build.roofline.kernels import every
from kernel_build.sources import FAMILY, HOPPER
from mezzotint.memory.machine.product_rates import OF_AN_INSTRUCTION

WORKS = {work.name: work for work in every()}
_HMMA, _IMMA = 2 * 16 * 8 * 16, 2 * 16 * 8 * 32  # operations of one instruction of a warp


def _architecture(work):
    return FAMILY if "block_scaled" in work.label else HOPPER if work.wgmma else ARCHITECTURE


def test_each_is_a_kernel_that_the_gates_know():
    known = read_table().registers
    assert all((work.label, _architecture(work)) in known for work in WORKS.values())
    assert len(WORKS) == len(every())


@pytest.mark.parametrize(
    "name", [name for name in WORKS if name.startswith(("attention forward", "few", "8-bit", "block"))]
)
def test_steps_times_products_of_a_step_are_all_operations(name):
    work, code = WORKS[name], read_code()[WORKS[name].label]
    assert work.steps * (code.hmma * _HMMA + code.imma * _IMMA) == pytest.approx(work.operations)


@pytest.mark.parametrize(("head_dim", "keys"), [(64, 128), (128, 176)])
def test_steps_of_hoppers_own_attention_are_of_four_warps(head_dim, keys):
    work = WORKS[f"Hopper's attention forward, heads of {head_dim}"]
    code = read_code()[work.label]
    assert code.hmma == head_dim // 16 + keys // 16  # scores of all keys, outputs of all columns
    assert work.steps / 4 * (2 * 2 * 64 * keys * head_dim) == pytest.approx(work.operations)


@pytest.mark.parametrize("scheme", ["int8", "int4-lowrank", "mxfp8", "nvfp4"])
def test_steps_of_a_product(scheme):
    work, code = WORKS[f"{scheme} product"], read_code()[WORKS[f"{scheme} product"].label]
    operations = _IMMA * (2 if scheme == "nvfp4" else 1)  # of one instruction
    assert work.steps * code.imma * operations == pytest.approx(work.operations)


def test_steps_of_a_convolution_are_of_nine_products():
    work = WORKS["int8 3x3 convolution"]
    assert work.steps * read_code()[work.label].imma * _IMMA == pytest.approx(work.operations)


def test_the_backward_pass_needs_five_products_where_the_forward_pass_needs_two():
    forward, backward = WORKS["attention forward, heads of 64"], WORKS["attention backward, heads of 64"]
    assert backward.operations == 2.5 * forward.operations


def test_4_bits_read_fewer_bytes():
    assert WORKS["int4-lowrank product"].bytes < WORKS["int8 product"].bytes


@pytest.mark.parametrize("scheme", OF_AN_INSTRUCTION)
def test_the_planner_knows_the_instructions_of_products(scheme):
    work = WORKS[f"{scheme} product"]
    counted = work.operations / work.steps / read_code()[work.label].all
    assert OF_AN_INSTRUCTION[scheme] == pytest.approx(counted, rel=0.01)

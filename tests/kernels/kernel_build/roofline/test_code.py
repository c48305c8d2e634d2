"""Instructions of a step: those in loops, or all; kept in a table."""

from collections import Counter
from pathlib import Path

import pytest

from kernel_build.errors import BuildError
from kernel_build.machine_code import Kernel
from kernel_build.ptxas import Resources
from kernel_build.roofline.code import TABLE, StepCode, code_of, read_code, write_code
from kernel_build.roofline.kernels import every
from kernel_build.sass import Instructions

CODE = StepCode(all=10, hmma=4, imma=0, ex2=1, ldsm=2, ldgsts=0)


def kernel(everywhere, in_loops):
    return Kernel(
        name="_Z1kv",
        architecture="sm_89",
        source=Path("k.cu"),
        resources=Resources(registers=1, stack=0, spill_stores=0, spill_loads=0),
        instructions=Instructions(everywhere=Counter(everywhere), in_loops=Counter(in_loops), usual=Counter(in_loops)),
    )


def test_instructions_of_loops_with_any_modifiers():
    inside = {"HMMA.16816.F32": 4, "IMMA.16832.S8.S8": 2, "MUFU.EX2": 3, "MUFU.RCP": 1, "LDSM.16.M88.4": 5, "FADD": 7}
    found = code_of(kernel({**inside, "FADD": 100}, inside))
    assert found == StepCode(all=22, hmma=4, imma=2, ex2=3, ldsm=5, ldgsts=0)


def test_a_kernel_without_products_in_loops_counts_everywhere():
    assert code_of(kernel({"FADD": 100, "LDGSTS.E": 2}, {"FADD": 3})).all == 102


def test_the_table_is_read_as_written(tmp_path):
    write_code({"b:kernel": CODE, "a": CODE}, tmp_path / "table.txt")
    assert read_code(tmp_path / "table.txt") == {"a": CODE, "b:kernel": CODE}


@pytest.mark.parametrize("text", [None, "kernel all\na 1 2\n", "kernel all\na x x x x x x\n"])
def test_a_damaged_table(tmp_path, text):
    path = tmp_path / "table.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BuildError, match="is no table of instructions"):
        read_code(path)


def test_every_kernel_of_the_page_has_been_counted():
    assert {work.label for work in every()} == set(read_code(TABLE))

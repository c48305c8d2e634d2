"""What ptxas says, as it was recorded from nvcc 13.0."""

from kernel_build.ptxas import Resources, parse_ptxas

TWO_KERNELS_AND_A_CALLED_FUNCTION = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN9mezzotint5callsEPfi' for 'sm_80'
ptxas info    : Function properties for _ZN9mezzotint5callsEPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 364 bytes cmem[0]
ptxas info    : Compile time = 20.992 ms
ptxas info    : Function properties for _ZN9mezzotint4slowEPfi
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function '_ZN9mezzotint5scaleILi64ELb1EEEvPf' for 'sm_80'
ptxas info    : Function properties for _ZN9mezzotint5scaleILi64ELb1EEEvPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 1.114 ms
"""
SPILLS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spills' for 'sm_90a'
ptxas info    : Function properties for spills
    528 bytes stack frame, 940 bytes spill stores, 1052 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 528 bytes cumulative stack size
ptxas info    : Compile time = 41.016 ms
"""


def test_each_kernel_has_its_numbers_and_those_of_what_it_calls():
    assert parse_ptxas(TWO_KERNELS_AND_A_CALLED_FUNCTION) == {
        "_ZN9mezzotint5callsEPfi": Resources(registers=32, stack=16, spill_stores=4, spill_loads=8),
        "_ZN9mezzotint5scaleILi64ELb1EEEvPf": Resources(registers=8, stack=0, spill_stores=0, spill_loads=0),
    }


def test_spills_and_the_stack_are_seen():
    assert parse_ptxas(SPILLS) == {"spills": Resources(registers=32, stack=528, spill_stores=940, spill_loads=1052)}


def test_a_source_without_kernels_has_none():
    assert parse_ptxas("ptxas info    : 0 bytes gmem\n") == {}
    assert parse_ptxas("") == {}

"""What the gates let pass, and what not; with made up kernels, and with real ones that are compiled here."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernel_build import machine_code
from kernel_build.__main__ import main
from kernel_build.errors import BuildError
from kernel_build.gates import expected, failures
from kernel_build.machine_code import Kernel, Unit, read_machine_code
from kernel_build.ptxas import Resources
from kernel_build.registers import RegisterTable, read_table, table_of, write_table
from kernel_build.sass import Instructions
from kernel_build.sources import ARCHITECTURES
from kernel_build.toolchain import find_toolchain

VERSION = "13.0.88"
NEEDED = ["HMMA.16816.F32", "LDSM.16.M88.4", "MUFU.EX2", "LDGSTS.E.BYPASS.LTC128B.128", "IMMA.16832.S8.S8"]
STORES = ("STG.E.128",)
SPILLING = """\
extern "C" __global__ void __launch_bounds__(1024) spills(float* p, int n) {
    float a[96];
    for (int i = 0; i < 96; ++i) a[i] = p[i * 1024 + threadIdx.x];
    for (int r = 0; r < n; ++r)
        for (int i = 0; i < 96; ++i) a[i] = a[i] * a[(i * 7 + 3) % 96] + p[r];
    for (int i = 0; i < 96; ++i) p[i * 1024 + threadIdx.x] = a[i];
}
"""
INDEXED = """\
extern "C" __global__ void indexes(float* p, int n) {
    float a[16] = {};
    for (int i = 0; i < n; ++i) a[(int)p[i] % 16] += p[i + n];
    for (int i = 0; i < 16; ++i) p[i] = a[i];
}
"""
PLAIN = 'extern "C" __global__ void plain(float* p) { p[threadIdx.x] *= 2; }\n'


def kernel(
    name="attention_forward",
    architecture="sm_80",
    registers=100,
    loops=NEEDED,
    everywhere=STORES,
    usual=(),
    size=100,
    **memory,
):
    return Kernel(
        name=name,
        architecture=architecture,
        source=Path("instance.cu"),
        resources=Resources(registers=registers, **{"stack": 0, "spill_stores": 0, "spill_loads": 0} | memory),
        instructions=Instructions(
            everywhere=Counter([*loops, *everywhere, *["FFMA"] * size]), in_loops=Counter(loops), usual=Counter(usual)
        ),
    )


def judged(*kernels, registers=100, table=None):
    allowed = table_of([kernel(each.name, each.architecture, registers) for each in kernels], VERSION)
    return failures(kernels, table or allowed, VERSION)


def test_a_kernel_as_it_must_be_passes():
    assert judged(kernel(), kernel(architecture="sm_75"), kernel("prepare", loops=())) == []


def test_a_masked_kernel_votes_on_its_keys():
    name = (
        "_ZN9mezzotint17attention_forwardI6__halfLi64ENS_5ShapeILi1ELi4ELi64ELi2ELb1EEELb{}ELi64EEEvNS_13ForwardParamsE"
    )
    plain, masked = (name.replace("17attention_forward", "20attention_short_keys").format(each) for each in (0, 1))
    assert judged(kernel(plain), kernel(masked, loops=[*NEEDED, "VOTE.ANY"])) == []
    (line,) = judged(kernel(masked))
    assert "has no VOTE in a loop" in line


def test_a_running_maximum_is_raised_by_vote_so_that_the_usual_step_has_no_shuffle():
    name = (
        "_ZN9mezzotint17attention_forwardI6__halfLi64ENS_5ShapeILi1ELi4ELi64ELi2ELb1EEELb0ELi64EEEvNS_13ForwardParamsE"
    )
    assert judged(kernel(name, loops=[*NEEDED, "VOTE.ANY", "SHFL.BFLY"], usual=NEEDED)) == []
    (line,) = judged(kernel(name))
    assert "has no VOTE in a loop" in line
    (line,) = judged(kernel(name, loops=[*NEEDED, "VOTE.ANY"], usual=["SHFL.BFLY"] * 4))
    assert "has 4 of SHFL in its usual step" in line


ROWS = ["LDG.E.128.CONSTANT", "STG.E.64", "SHFL.BFLY"]


HOPPER = ["HGMMA.64x128x16.F32", "UTMALDG.4D", "SYNCS.PHASECHK.TRANS64.TRYWAIT", "BAR.ARV", "MUFU.EX2", "VOTE.ANY"]


def hopper_kernel(loops=HOPPER, waits=4, **changes):
    waiting = ["WARPGROUP.DEPBAR.LE"] * waits
    return kernel("attention_hopper", "sm_90a", loops=loops, everywhere=[*STORES, *waiting], **changes)


def test_hoppers_own_attention_has_its_copies_and_products():
    assert judged(hopper_kernel()) == []
    for name in HOPPER:
        (line,) = judged(hopper_kernel([each for each in HOPPER if each != name]))
        assert "in a loop: is it compiled for what it is meant for?" in line


def test_products_that_are_waited_for_one_by_one_are_told():
    (line,) = judged(hopper_kernel(waits=23))
    assert "waits for products at 23 places and not 4" in line


def rows_kernel(everywhere):
    return kernel("quantize_rows", loops=(), everywhere=everywhere)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90a"])
def test_rows_to_be_quantized_move_in_wide_pieces_and_are_rotated_by_shuffles(architecture):
    assert judged(kernel("quantize_rows", architecture, loops=(), everywhere=ROWS)) == []
    for name in ROWS:
        (line,) = judged(rows_kernel([each for each in ROWS if each != name]))
        assert f"has no {name.removesuffix('.CONSTANT')}: rows are to be" in line


@pytest.mark.parametrize("name", ["HMMA.16816.F32", "IMMA.16832.S8.S8"])
def test_a_rotation_of_rows_needs_no_product(name):
    (line,) = judged(rows_kernel([*ROWS, name]))
    assert line.startswith(f"instance:quantize_rows on sm_80 has 1 of {name[:4]}: ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spill_stores": 4, "spill_loads": 8, "stack": 16}, "spills: 4 bytes stored, 8 loaded, a stack of 16"),
        ({"stack": 16}, "a stack of 16"),
        ({"everywhere": [*STORES, "LDL.LU", "STL.64", "STL"]}, "uses local memory: 3 of LDL and STL"),
        ({"registers": 101}, "uses 101 registers, and the table allows 100"),
        *(
            (
                {"loops": [word for word in NEEDED if not word.startswith(name)], "everywhere": [*STORES, *NEEDED]},
                f"has no {name} in a loop",
            )
            for name in ("HMMA", "LDSM", "MUFU.EX2", "LDGSTS")
        ),
    ],
)
def test_what_is_wrong_is_told_by_kernel_and_number(change, words):
    (line,) = judged(kernel(**change))
    assert line.startswith("instance:attention_forward on sm_80 ")
    assert words in line


def test_turing_copies_without_ldgsts_and_int8_kernels_need_imma():
    assert "LDGSTS" not in expected(kernel(architecture="sm_75"))
    assert "LDGSTS" in expected(kernel(architecture="sm_120"))
    assert "IMMA" in expected(kernel("attention_int8"))
    assert expected(kernel("quantize")) == ()


def test_values_of_8_bit_floats_are_summed_in_16_bits_and_stored_16_bytes_at_a_time():
    name = "_ZN9mezzotint18attention_int8_fp8I6__halfLi64ENS_5ShapeILi1ELi4ELi64ELi2ELb1EEEEEvNS_10Int8ParamsE"
    needed = ["LDSM", "MUFU.EX2", "IMMA.16832.S8.S8", "QMMA.16832.F16.E4M3.E4M3", "VOTE.ANY", "LDGSTS.E.128"]
    stores = ["STG.E.128"] * 64
    assert judged(kernel(name, "sm_89", loops=needed, everywhere=[*needed, *stores])) == []
    (line,) = judged(kernel(name, "sm_89", loops=needed, everywhere=[*needed, *["STG.E"] * 64]))
    assert "has no STG.E.128" in line
    words = [*needed[:3], "QMMA.16832.F32.E4M3.E4M3", *needed[4:]]
    (line,) = judged(kernel(name, "sm_89", loops=words, everywhere=[*words, *stores]))
    assert "has no QMMA.16832.F16.E4M3.E4M3 in a loop" in line
    assert judged(kernel(name, "sm_90a", loops=(), size=8)) == []  # compiled to nothing


def test_parts_are_joined_in_wide_pieces():
    name = "_ZN9mezzotint41_GLOBAL__N__b3c5e4d1_7_join_cu_5b1a2c3d11join_splitsI6__halfEEvNS_13ForwardParamsE"
    needed = ["LDG.E.128", "MUFU.EX2"]
    assert judged(kernel(name, "sm_89", loops=needed, everywhere=[*needed, *STORES])) == []
    assert "has no STG.E.128" in judged(kernel(name, "sm_89", loops=needed, everywhere=[*needed, "STG.E"]))[0]
    assert "has no LDG.E.128 in a loop" in judged(kernel(name, "sm_89", loops=needed[1:], everywhere=STORES))[0]


def test_products_of_integers_need_imma_and_no_exponent():
    assert expected(kernel("_ZN9mezzotint4gemm14linear_product")) == ["IMMA", "LDSM", "HMMA", "LDGSTS"]
    assert expected(kernel("_ZN9mezzotint4gemm14linear_product", architecture="sm_75")) == ["IMMA", "LDSM", "HMMA"]
    assert "has no IMMA in a loop" in judged(kernel("_ZN9mezzotint4gemm14linear_product", loops=NEEDED[:4]))[0]


@pytest.mark.parametrize(
    ("architecture", "needed"),
    [("sm_75", "IMMA.8832.S4"), ("sm_80", "IMMA.16864.S4"), ("sm_89", "IMMA.16864.S4"), ("sm_90a", None)],
)
def test_products_of_4_bits_need_those_instructions_where_they_are(architecture, needed):
    for name in ("19int4_linear_product", "22grouped_linear_product"):
        found = expected(kernel(f"_ZN9mezzotint4gemm{name}", architecture=architecture))
        assert [word for word in found if word.endswith("S4")] == ([needed] if needed else [])


@pytest.mark.parametrize(("format_", "needed"), [(1, "QMMA.SF.16832"), (2, "OMMA.SF.16864")])
def test_block_scaled_products_apply_their_scales_themselves(format_, needed):
    name = f"_ZN9mezzotint12block_scaled27block_scaled_linear_productI6__halfLi{format_}EEEvNS0_17BlockScaledParamsE"
    made = kernel(name, "sm_120f", loops=["LDSM.16.M88.4", "HMMA.16816.F32", f"{needed}.F32", "LDGSTS.E"])
    assert judged(made) == []
    (line,) = judged(replace(made, instructions=kernel(loops=["LDSM.16", "HMMA.16816", "LDGSTS.E"]).instructions))
    assert f"has no {needed} in a loop" in line


def test_block_scaled_rows_are_rounded_by_conversions():
    rows = ["LDG.E.128", "STG.E.64", "STG.E.U8", "SHFL.BFLY", "F2FP.SATFINITE.E4M3.F32"]
    assert judged(kernel("block_scaled_quantize_rows", "sm_120f", loops=(), everywhere=rows)) == []
    (line,) = judged(kernel("block_scaled_quantize_rows", "sm_120f", loops=(), everywhere=rows[:-1]))
    assert "has no F2FP.SATFINITE" in line


@pytest.mark.parametrize("name", ["linear_product", "int4_linear_product", "attention_int8", "quantize_rows"])
def test_kernels_of_8_bits_are_empty_where_those_of_16_are_faster(name):
    assert judged(kernel(name, "sm_100", loops=(), everywhere=(), size=8)) == []
    assert judged(kernel(name, "sm_90a", loops=(), everywhere=(), size=8)) != []
    assert len(judged(kernel("attention_forward", "sm_100", loops=(), size=8))) == 4


def test_what_turing_cannot_run_is_empty_there_and_nowhere_else():
    assert judged(kernel(architecture="sm_75", loops=(), size=10)) == []
    assert len(judged(kernel(architecture="sm_80", loops=(), size=10))) == 4
    assert len(judged(kernel(architecture="sm_75", loops=(), size=100))) == 3


def test_the_table_must_be_of_these_kernels_and_this_compiler():
    assert "is not in the table" in judged(kernel(), table=RegisterTable(compiler=VERSION, registers={}))[0]
    other = RegisterTable(compiler=VERSION, registers={("gone:old", "sm_80"): 1, ("gone:old", "sm_75"): 1})
    assert "gone:old on sm_80 is in the table and was not compiled" in judged(kernel(), table=other)[1]
    assert len(judged(kernel(), table=other)) == 2, "of an architecture that was not asked for, nothing is said"
    wrong = RegisterTable(compiler="12.9.86", registers={})
    assert "for nvcc 12.9.86, and this is 13.0.88" in judged(kernel(), table=wrong)[0]


@pytest.fixture(scope="module")
def toolchain():
    try:
        found = find_toolchain()
    except BuildError as error:
        pytest.skip(str(error))
    if found.nvdisasm is None:
        pytest.skip("needs nvdisasm: pip install -c constraints.txt -e '.[kernels]'")
    return found


@pytest.fixture
def compiled(tmp_path, toolchain):
    """Compile a source for sm_80; each time anew, unless the same test does it twice."""
    started = []

    def run(code):
        source = tmp_path / "trial.cu"
        source.write_text(code)
        unit = Unit(source=source, architecture="sm_80")
        return read_machine_code([unit], toolchain, cache=tmp_path / "cache", jobs=1, on_compile=started.append)

    made: Any = run
    made.started = started
    return made


@pytest.mark.parametrize(("code", "words"), [(SPILLING, "spills: "), (INDEXED, "a stack of ")])
def test_a_kernel_that_spills_fails(compiled, toolchain, code, words):
    kernels = compiled(code)
    found = failures(kernels, table_of(kernels, toolchain.version), toolchain.version)
    assert len(found) == 2
    assert words in found[0]
    assert "uses local memory" in found[1]


def test_a_plain_kernel_passes_and_is_compiled_once(compiled, toolchain):
    kernels = compiled(PLAIN)
    assert [each.label for each in kernels] == ["trial:plain"]
    assert failures(kernels, table_of(kernels, toolchain.version), toolchain.version) == []
    assert compiled(PLAIN) == kernels
    assert len(compiled.started) == 1
    compiled(PLAIN.replace("2", "3"))
    assert len(compiled.started) == 2


def test_what_is_kept_and_damaged_is_compiled_again(compiled, tmp_path):
    kernels = compiled(PLAIN)
    for path in (tmp_path / "cache").iterdir():
        path.write_text('{"plain": {}}')
    assert compiled(PLAIN) == kernels
    assert len(compiled.started) == 2


def test_what_does_not_compile_is_told_with_the_compiler_s_words(compiled):
    with pytest.raises(BuildError, match=r"(?s)nvcc, on trial.cu for sm_80, failed:.*trial.cu\(1\): error"):
        compiled("__global__ void broken() { nonsense; }\n")


def test_the_command_fails_with_the_reasons(toolchain, tmp_path, monkeypatch, capsys):
    source = tmp_path / "trial.cu"
    source.write_text(SPILLING)
    monkeypatch.setattr("kernel_build.__main__.kernel_sources", lambda: [source])
    monkeypatch.setattr(machine_code, "CACHE", tmp_path / "cache")
    assert main(["gates", "--architectures", "sm_80"]) == 1
    said = capsys.readouterr().err
    assert "trial:spills on sm_80 spills: " in said
    assert "is not in the table of registers" in said


def test_the_table_is_not_written_from_a_part(monkeypatch, capsys):
    monkeypatch.setattr("kernel_build.__main__.find_toolchain", lambda: None)
    assert main(["gates", "--architectures", "sm_80", "--write-table"]) == 2
    assert "leave --architectures and --sample out" in capsys.readouterr().err


@pytest.fixture
def gates(tmp_path, monkeypatch):
    """Run the command on made up sources, with a table of its own; gives its status and what was compiled.

    A source is the stack that its kernel needs.
    """
    sources, table = [], tmp_path / "registers.txt"
    compiler = SimpleNamespace(version=VERSION)
    monkeypatch.setattr("kernel_build.__main__.find_toolchain", lambda: compiler)
    monkeypatch.setattr("kernel_build.__main__.kernel_sources", lambda: sources)
    monkeypatch.setattr("kernel_build.__main__.read_table", lambda: read_table(table))
    monkeypatch.setattr("kernel_build.__main__.write_table", lambda written: write_table(written, table))

    def run(*words, **codes):
        sources[:] = [tmp_path / f"{name}.cu" for name in codes]
        for source, code in zip(sources, codes.values(), strict=True):
            source.write_text(code)
        seen = set()

        def read(units, toolchain, *, jobs, on_compile):
            seen.update((unit.source.stem, unit.architecture) for unit in units)
            made = [
                kernel("prepare", unit.architecture, loops=(), stack=int(unit.source.read_text())) for unit in units
            ]
            return [replace(each, source=unit.source) for each, unit in zip(made, units, strict=True)]

        monkeypatch.setattr("kernel_build.__main__.read_machine_code", read)
        return main(["gates", *words]), seen

    return run


def everywhere(*names):
    return {(name, architecture) for name in names for architecture in ARCHITECTURES}


def test_what_has_passed_is_compiled_again_only_as_a_sample(gates):
    two = {"one": "0", "other": "0 "}
    assert gates("--write-table", **two) == (0, everywhere("one", "other"))
    assert gates("--sample", "0", **two) == (0, set())
    assert gates("--sample", "0", **two | {"one": " 0"}) == (0, everywhere("one"))
    status, some = gates("--sample", "0.5", "--seed", "7", **two)
    assert (status, len(some)) == (0, len(ARCHITECTURES))
    assert gates("--sample", "0.5", "--seed", "7", **two) == (0, some)
    assert gates("--sample", "1", **two) == (0, everywhere("one", "other"))


def test_sources_are_recorded_only_when_all_pass(gates):
    assert gates("--write-table", one="16")[0] == 1
    assert gates("--sample", "0", one="16") == (1, everywhere("one"))


def test_a_source_that_has_gone_is_missed_by_a_sample_too(gates, capsys):
    gates("--write-table", stays="0", leaves="0")
    capsys.readouterr()
    assert gates("--sample", "0.5", stays="0")[0] == 1
    said = capsys.readouterr().err
    assert "leaves:prepare" in said
    assert "stays:prepare" not in said

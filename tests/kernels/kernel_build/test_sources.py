"""Which files make a kernel, and when it must be compiled anew."""

import re

import pytest

from kernel_build.sources import ARCHITECTURES, FAMILY, HOPPER, architectures_of, closure, digest, kernel_sources


@pytest.fixture
def source(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "inner.h").write_text('#include "../outer.h"\nint inner;\n')
    (tmp_path / "outer.h").write_text(
        '#pragma once\n#include "part/inner.h"\n  #  include "gone.h"\n#include <math.h>\n'
    )
    (tmp_path / "other.h").write_text("int other;\n")
    (tmp_path / "kernel.cu").write_text('#include "outer.h"\nint kernel;\n')
    return tmp_path / "kernel.cu"


def test_what_is_included_belongs_to_it_however_deep_and_in_circles(source):
    assert [path.name for path in closure(source)] == ["kernel.cu", "outer.h", "inner.h"]


@pytest.mark.parametrize("name", ["kernel.cu", "outer.h", "part/inner.h"])
def test_a_change_of_any_of_them_is_another_kernel(source, name):
    before = digest(source, ["sm_80"])
    path = source.parent / name
    path.write_text(path.read_text() + "// more\n")
    assert digest(source, ["sm_80"]) != before


def test_what_it_does_not_include_changes_nothing_and_flags_do(source):
    before = digest(source, ["sm_80", "-O3"])
    (source.parent / "other.h").write_text("int changed;\n")
    assert digest(source, ["sm_80", "-O3"]) == before
    assert len({digest(source, words) for words in (["sm_80", "-O3"], ["sm_80-O3"], ["sm_86", "-O3"], [])}) == 4


def test_cmake_compiles_for_the_same_architectures(root):
    text = (root / "kernels/CMakeLists.txt").read_text("utf-8")
    words = re.search(r"set\(CMAKE_CUDA_ARCHITECTURES (.*)\)", text)[1].split()
    assert [f"sm_{word.removesuffix('-real')}" for word in words if word.endswith("-real")] == list(ARCHITECTURES)
    assert [word for word in words if word.endswith("-virtual")] == ["120-virtual"]


def test_block_scaled_sources_are_compiled_for_their_family_alone(root):
    product, plain = (root / "kernels/csrc/gemm" / name for name in ("block_scaled/launch.cu", "launch.cu"))
    assert product in kernel_sources()
    assert architectures_of(product) == (FAMILY,)
    assert architectures_of(plain) == ARCHITECTURES
    assert architectures_of(product, ["sm_80"]) == ()
    assert architectures_of(plain, ["sm_80", "sm_120"]) == ("sm_80", "sm_120")
    text = (root / "kernels/CMakeLists.txt").read_text("utf-8")
    assert f"PROPERTIES CUDA_ARCHITECTURES {FAMILY.removeprefix('sm_')}-real)" in text


def test_hoppers_own_sources_are_compiled_for_it_alone(root):
    own = root / "kernels/csrc/attention/instances/hopper_bfloat16_128.cu"
    assert own in kernel_sources()
    assert architectures_of(own) == (HOPPER,)
    assert architectures_of(own, ["sm_89"]) == ()
    text = (root / "kernels/CMakeLists.txt").read_text("utf-8")
    assert f"mezzotint_hopper PROPERTIES CUDA_ARCHITECTURES {HOPPER.removeprefix('sm_')}-real)" in text


def test_every_source_that_nvcc_compiles_is_found(root):
    assert root / "kernels/csrc/api/cuda_runtime.cu" in kernel_sources()

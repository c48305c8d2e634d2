"""The library as it is really built: for PTX alone, which says everything but how fast it is."""

import ctypes
import os
import re
import subprocess
import sys

import pytest

from kernel_build.errors import BuildError
from kernel_build.library import build_library, configure_words
from kernel_build.toolchain import Toolchain, find_toolchain
from mezzotint_kernels.abi import Status
from mezzotint_kernels.library import VARIABLE, Library

SYSTEM_LIBRARIES = {"libc", "libm", "libstdc++", "libgcc_s", "libdl", "libpthread", "librt", "ld-linux-x86-64"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="nm and ldd are those of Linux")


@pytest.fixture(scope="module")
def toolchain():
    try:
        return find_toolchain()
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def built(toolchain, root):
    """The library of all kernels, kept from one run to the next; what has not changed is not compiled again."""
    folder = root / "build" / "kernels-test"
    build_library(toolchain, architectures="75-virtual", folder=folder)
    return next(path for path in folder.glob("*mezzotint_kernels.*") if path.suffix in {".so", ".dll"})


@pytest.mark.slow
@linux
def test_it_exports_what_the_header_declares_and_nothing_else(built, root):
    listed = subprocess.run(["nm", "-D", "--defined-only", built], check=True, capture_output=True, text=True).stdout
    headers = "".join(header.read_text("utf-8") for header in (root / "kernels/csrc").glob("*api.h"))
    declared = set(re.findall(r"^MZT_API .*?(mzt_\w+)\(", headers, re.MULTILINE))
    assert {line.split()[-1] for line in listed.splitlines()} == declared


@pytest.mark.slow
@linux
def test_it_needs_the_system_s_libraries_and_nothing_else(built):
    listed = subprocess.run(["readelf", "-d", built], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(\S+?)\.so", listed))
    assert "libc" in needed
    assert needed <= SYSTEM_LIBRARIES


@pytest.mark.slow
def test_it_tells_what_it_was_built_for(built):
    library = Library(built)
    assert (library.version, library.architectures) == ("0.1.0", ("compute_75",))


@pytest.mark.slow
def test_without_a_driver_it_says_so(built, root):
    environment = os.environ | {VARIABLE: str(built), "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(root / "kernels")}
    code = "import mezzotint_kernels; print(mezzotint_kernels.info())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "architectures  compute_75\n" in done.stdout
    assert re.search(
        r"^not usable     (there is no NVIDIA driver here|the NVIDIA driver .* has no device)", done.stdout, re.M
    )


@pytest.mark.slow
def test_every_mistake_is_found_before_the_driver_is_asked(built, args):
    library = Library(built)
    args.heads = 3
    assert library.attention_forward(ctypes.byref(args), 0, None) == Status.INVALID_ARGUMENT
    assert library.last_error() == "heads is 3, no multiple of kv_heads, which is 2"


def test_cmake_is_told_the_compiler_the_architectures_and_where_the_runtime_is(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcudart_static.a").touch()
    nvcc = tmp_path / "bin" / "nvcc"
    chain = Toolchain(nvcc=nvcc, version="13.0.88", nvdisasm=None, cuobjdump=None)
    words = configure_words(chain, "89-real", tmp_path / "out")
    assert {f"-DCMAKE_CUDA_COMPILER={nvcc}", f'-DCMAKE_CUDA_FLAGS=-L"{tmp_path / "lib"}"'} <= set(words)
    assert words[-1] == "-DCMAKE_CUDA_ARCHITECTURES=89-real"
    assert configure_words(chain, None, tmp_path)[-1] == "-UCMAKE_CUDA_ARCHITECTURES"


def test_a_failed_build_is_told(toolchain, tmp_path):
    with pytest.raises(BuildError, match=r"cmake failed with status \d+; its reason is above"):
        build_library(toolchain, architectures="no-such", folder=tmp_path / "out")

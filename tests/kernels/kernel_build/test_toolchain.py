"""Where the compiler is looked for; the programs are stand-ins."""

import sys

import pytest

from kernel_build.errors import BuildError
from kernel_build.toolchain import find_toolchain, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
SAYS = "Cuda compilation tools, release 13.0, V13.0.88"


@pytest.fixture
def program(tmp_path):
    """Write a program that says something; give its folder."""

    def write(folder, name, says=SAYS):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{says}"\n')
        path.chmod(0o755)
        return path

    return write


def test_what_is_named_comes_first_then_packages_then_the_system(program, tmp_path):
    named, package, home, path = (program(f"{name}/bin", "nvcc") for name in ("named", "package", "home", "path"))
    environment = {"NVCC": str(named), "CUDA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}
    found = []
    for name in ("NVCC", None, "CUDA_HOME", "PATH"):
        packages = [package.parent] if name in {"NVCC", None} else []
        found.append(find_toolchain(environment, packages).nvcc)
        if name == "NVCC" or name == "CUDA_HOME":
            del environment[name]
    assert found == [named, package, home, path]


def test_version_and_disassemblers_are_found(program, tmp_path):
    nvcc = program("cuda/bin", "nvcc")
    nvdisasm = program("cuda/bin", "nvdisasm")
    cuobjdump = program("path", "cuobjdump")
    found = find_toolchain({"NVCC": str(nvcc), "PATH": str(tmp_path / "path")}, [])
    assert (found.version, found.nvdisasm, found.cuobjdump) == ("13.0.88", nvdisasm, cuobjdump)
    assert find_toolchain({"NVCC": str(nvcc), "PATH": ""}, []).cuobjdump is None


def test_the_runtime_of_the_packages_is_linked_from_their_folder(program, tmp_path):
    found = find_toolchain({"NVCC": str(program("cu13/bin", "nvcc")), "PATH": ""}, [])
    assert found.link_folders == ()
    (tmp_path / "cu13" / "lib").mkdir()
    (tmp_path / "cu13" / "lib" / "libcudart_static.a").touch()
    assert found.link_folders == (tmp_path / "cu13" / "lib",)


def test_windows_has_its_suffix(program):
    nvcc = program("bin", "nvcc.exe")
    assert find_toolchain({"PATH": ""}, [nvcc.parent], windows=True).nvcc == nvcc


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"PATH": ""}, r"no CUDA compiler here: pip install -c constraints.txt -e '.\[kernels\]', or name"),
        ({"PATH": "", "NVCC": "/no/nvcc"}, r"NVCC is '/no/nvcc', and no such file is there"),
    ],
)
def test_no_compiler_is_told_with_what_to_do(environment, words):
    with pytest.raises(BuildError, match=words):
        find_toolchain(environment, [])


def test_a_program_that_is_no_compiler_is_told(program):
    with pytest.raises(BuildError, match=r"does not say its version; it says: hello"):
        find_toolchain({"NVCC": str(program("bin", "nvcc", "hello")), "PATH": ""}, [])


def test_a_program_that_fails_is_told_with_its_words(tmp_path):
    with pytest.raises(BuildError, match=r"it failed:\nso it is"):
        run(["sh", "-c", "echo so it is >&2; exit 3"], "it")

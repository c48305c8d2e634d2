"""Finding and opening the library."""

import ctypes
import subprocess

import pytest

import mezzotint_kernels.library
from mezzotint_kernels.errors import InvalidArgument, KernelsError, KernelsUnavailable, LaunchFailed, Unsupported
from mezzotint_kernels.library import VARIABLE, Library, find_library

NAME = "libmezzotint_kernels.so"


@pytest.fixture
def places(tmp_path):
    """An empty package in an empty source tree: the package's folder, and where make kernels builds."""
    package = tmp_path / "kernels" / "mezzotint_kernels"
    built = tmp_path / "build" / "kernels"
    package.mkdir(parents=True)
    built.mkdir(parents=True)
    return package, built


def find(package, environment=None, platform="linux"):
    return find_library(environment or {}, platform, package)


def test_the_variable_comes_first_then_the_package_then_the_build(places, tmp_path):
    package, built = places
    (built / NAME).touch()
    assert find(package) == built / NAME
    (package / NAME).touch()
    assert find(package) == package / NAME
    (tmp_path / "other.so").touch()
    assert find(package, {VARIABLE: str(tmp_path / "other.so")}) == tmp_path / "other.so"
    assert find(package, {VARIABLE: ""}) == package / NAME


@pytest.mark.parametrize(
    ("platform", "name"), [("win32", "mezzotint_kernels.dll"), ("darwin", "libmezzotint_kernels.dylib")]
)
def test_each_system_has_its_name_for_it(places, platform, name):
    (places[0] / name).touch()
    assert find(places[0], platform=platform).name == name


def test_no_library_is_told_with_what_to_do(places):
    with pytest.raises(KernelsUnavailable, match=r"run make kernels, or name the file"):
        find(places[0])


def test_a_variable_that_names_nothing_is_told_and_nothing_else_is_taken(places):
    (places[0] / NAME).touch()
    with pytest.raises(KernelsUnavailable, match=r"MEZZOTINT_KERNELS_LIBRARY is '/no/such.so', and no such file"):
        find(places[0], {VARIABLE: "/no/such.so"})


def test_what_is_no_library_is_told(tmp_path):
    path = tmp_path / "library.so"
    path.write_text("not a library")
    with pytest.raises(KernelsUnavailable, match=r"library\.so is no library of Mezzotint's kernels"):
        Library(path)


@pytest.mark.requires_command("gcc", "sudo apt-get install gcc")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("int other(void) { return 1; }", "is no library of Mezzotint's kernels"),
        ("unsigned mzt_abi_version(void) { return 2; }", "has ABI version 2, and this package needs 1"),
        ("unsigned mzt_abi_version(void) { return 1; }", "is older than this package.*run make kernels"),
    ],
)
def test_another_library_or_version_is_told(tmp_path, code, words):
    (tmp_path / "other.c").write_text(code)
    path = tmp_path / "other.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, tmp_path / "other.c"], check=True)
    with pytest.raises(KernelsUnavailable, match=words):
        Library(path)


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_the_library_tells_about_itself(library, stand_in_path):
    assert library.path == stand_in_path
    assert (library.version, library.abi) == ("0.1.0", 1)
    assert library.architectures[0] == "sm_75"
    assert library.architectures[-2:] == ("compute_120", "sm_120f")


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (1, Unsupported),
        (2, InvalidArgument),
        (3, KernelsUnavailable),
        (4, KernelsUnavailable),
        (5, KernelsUnavailable),
        (6, InvalidArgument),
        (7, LaunchFailed),
        (99, KernelsError),
    ],
)
def test_each_status_is_an_error_of_ours_with_the_library_s_words(library, status, error):
    library.driver(None, ctypes.byref(ctypes.c_int32()))
    with pytest.raises(error, match="version is null") as raised:
        library.check(status)
    assert type(raised.value) is error


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_a_status_without_words_is_still_told(library, stand_in):
    library.check(library.driver(ctypes.byref(ctypes.c_int32()), ctypes.byref(ctypes.c_int32())))
    with pytest.raises(KernelsError, match="the library returned status 99"):
        library.check(99)


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_it_is_opened_once(stand_in_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(stand_in_path))
    mezzotint_kernels.library.library.cache_clear()
    try:
        assert mezzotint_kernels.library.library() is mezzotint_kernels.library.library()
    finally:
        mezzotint_kernels.library.library.cache_clear()

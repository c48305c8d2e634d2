"""The package of kernels as attention sees it: what it raises and says becomes what attention knows."""

from types import SimpleNamespace

import pytest

from mezzotint.attention.library import (
    InstalledKernels,
    LaunchFailed,
    LibraryFacts,
    Unavailable,
    Unsupported,
    installed_package,
    library_facts,
    open_installed,
)


class KernelsError(Exception):
    pass


ERRORS = {name: type(name, (KernelsError,), {}) for name in ("Unsupported", "KernelsUnavailable", "InvalidArgument")}
SOUND = SimpleNamespace(version="0.1.0", abi=1, architectures=("sm_80", "sm_90a"), driver="13.0", problem=None)


def package(info=SOUND, error=None, supported=True):
    def call(*_):
        if error is not None:
            raise error
        return SimpleNamespace(supported=supported, text="flash_d64", workspace_bytes=7)

    return SimpleNamespace(
        KernelsError=KernelsError,
        LaunchFailed=type("LaunchFailed", (KernelsError,), {}),
        **ERRORS,
        info=lambda: info,
        AttentionArgs=lambda: "arguments",
        attention_plan=call,
        attention_forward=call,
    )


def test_a_plan_and_a_launch():
    library = open_installed(package)
    assert library.device_type == "cuda"
    assert library.new_arguments() == "arguments"
    plan = library.plan("arguments", 0)
    assert (plan.name, plan.workspace_bytes) == ("flash_d64", 7)
    library.launch("arguments", 0, 1)


def test_a_plan_without_a_kernel():
    with pytest.raises(Unsupported, match="flash_d64"):
        InstalledKernels(package(supported=False)).plan("arguments", 0)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ERRORS["Unsupported"], Unsupported),
        (ERRORS["KernelsUnavailable"], Unavailable),
        (ERRORS["InvalidArgument"], ValueError),
        (KernelsError, LaunchFailed),
    ],
)
def test_its_errors_become_ours(theirs, ours):
    library = InstalledKernels(package(error=theirs("what happened")))
    with pytest.raises(ours, match="what happened"):
        library.plan("arguments", 0)
    with pytest.raises(ours, match="what happened"):
        library.launch("arguments", 0, 1)


@pytest.mark.parametrize(
    "problem",
    [
        "libmezzotint_kernels.so has ABI version 2, and this package needs 1: install a matching pair",
        "the NVIDIA driver is for CUDA 11.4, and this library needs 12.9: update the driver",
        "there is no NVIDIA driver here: install one",
    ],
)
def test_what_the_library_lacks_is_told_in_its_words(problem):
    broken = SimpleNamespace(version="0.1.0", abi=2, architectures=(), driver=None, problem=problem)
    with pytest.raises(Unavailable, match=problem[:40]):
        open_installed(lambda: package(broken))
    assert library_facts(lambda: package(broken)) == LibraryFacts(
        installed=True, version="0.1.0", abi=2, problem=problem
    )


def test_without_the_package_it_is_said_how_to_get_it():
    with pytest.raises(Unavailable, match="mezzotint_kernels is not installed.*make kernels"):
        open_installed(lambda: None)
    facts = library_facts(lambda: None)
    assert not facts.installed and "make kernels" in facts.problem


def test_facts():
    assert library_facts(package) == LibraryFacts(
        installed=True, version="0.1.0", abi=1, architectures=("sm_80", "sm_90a"), driver="13.0", problem=None
    )


def test_this_machine_can_be_asked():
    """Whatever is installed here: a version, or what is wrong."""
    facts = library_facts()
    assert facts.installed == (installed_package() is not None)
    assert facts.version or facts.problem

"""The package of kernels as the engine sees it: what it raises and says becomes what the engine knows."""

from types import SimpleNamespace

import pytest

import mezzotint_kernels
from mezzotint.dispatch.library import (
    InstalledKernels,
    LaunchFailed,
    LibraryFacts,
    Preparation,
    Unavailable,
    Unsupported,
    installed_package,
    library_facts,
    open_installed,
)

SOUND = SimpleNamespace(version="0.1.0", abi=1, architectures=("sm_80", "sm_90a"), driver="13.0", problem=None)


def package(info=SOUND, error=None, supported=True):
    """`mezzotint_kernels` with functions that only remember what they are given."""
    calls = []

    def call(*words):
        calls.append(words)
        if error is not None:
            raise error
        return SimpleNamespace(supported=supported, text="flash_d64", workspace_bytes=7)

    functions = ("attention_plan", "attention_forward", "attention_backward_plan", "attention_backward")
    functions += ("quantize_rows", "linear_forward", "linear_attention_plan", "linear_attention_forward")
    functions += ("group_norm_workspace", "group_norm_forward")
    names = {name: getattr(mezzotint_kernels, name) for name in mezzotint_kernels.__all__}
    return SimpleNamespace(**(names | dict.fromkeys(functions, call) | {"info": lambda: info}), calls=calls)


def test_a_plan_and_a_launch():
    given = package()
    library = open_installed(lambda: given)
    arguments = library.new_arguments()
    assert library.device_type == "cuda" and isinstance(arguments, mezzotint_kernels.AttentionArgs)
    plan = library.plan(arguments, 0)
    assert (plan.name, plan.workspace_bytes) == ("flash_d64", 7)
    library.launch(arguments, 1, 7)
    assert given.calls == [(arguments, 0), (arguments, 1, 7)]


def test_a_plan_and_a_launch_of_the_backward_pass():
    given = package()
    library = open_installed(lambda: given)
    arguments = library.new_backward_arguments()
    assert isinstance(arguments, mezzotint_kernels.AttentionBackwardArgs)
    plan = library.plan_backward(arguments, 0)
    assert (plan.name, plan.workspace_bytes) == ("flash_d64", 7)
    library.launch_backward(arguments, 1, 7)
    assert given.calls == [(arguments, 0), (arguments, 1, 7)]
    with pytest.raises(Unsupported, match="flash_d64"):
        InstalledKernels(package(supported=False)).plan_backward("arguments", 0)


def test_a_plan_and_a_launch_of_linear_attention():
    given = package()
    library = open_installed(lambda: given)
    arguments = library.new_linear_attention_arguments()
    assert isinstance(arguments, mezzotint_kernels.LinearAttentionArgs)
    assert library.plan_linear_attention(arguments, 0).workspace_bytes == 7
    library.launch_linear_attention(arguments, 1, 7)
    assert given.calls == [(arguments, 0), (arguments, 1, 7)]
    with pytest.raises(Unsupported, match="flash_d64"):
        InstalledKernels(package(supported=False)).plan_linear_attention("arguments", 0)


def test_group_norms_reach_the_package():
    given = package()
    library = open_installed(lambda: given)
    arguments = library.new_group_norm_arguments()
    assert isinstance(arguments, mezzotint_kernels.GroupNormArgs)
    library.group_norm_workspace(arguments)
    library.launch_group_norm(arguments, 1, 7)
    assert given.calls == [(arguments,), (arguments, 1, 7)]
    with pytest.raises(Unsupported, match="24 channels"):
        InstalledKernels(package(error=mezzotint_kernels.Unsupported("24 channels"))).group_norm_workspace("arguments")


def test_products_reach_the_package():
    given = package()
    library = open_installed(lambda: given)
    rows, product = library.new_quantize_arguments(), library.new_linear_arguments()
    library.quantize(rows, 1, 7)
    library.multiply(product, 1, 8)
    assert given.calls == [(rows, 1, 7), (product, 1, 8)]


def test_a_plan_without_a_kernel():
    with pytest.raises(Unsupported, match="flash_d64"):
        InstalledKernels(package(supported=False)).plan("arguments", 0)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (mezzotint_kernels.Unsupported, Unsupported),
        (mezzotint_kernels.KernelsUnavailable, Unavailable),
        (mezzotint_kernels.InvalidArgument, ValueError),
        (mezzotint_kernels.LaunchFailed, LaunchFailed),
    ],
)
@pytest.mark.parametrize(("function", "more"), [("plan", ()), ("launch", (1,)), ("quantize", (1,)), ("multiply", (1,))])
def test_its_errors_become_ours(function, more, theirs, ours):
    library = InstalledKernels(package(error=theirs("what happened")))
    with pytest.raises(ours, match="what happened"):
        getattr(library, function)("arguments", 0, *more)


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


def test_preparations_have_the_numbers_of_the_library():
    theirs = mezzotint_kernels.Preparation
    assert {each.name: each.value for each in Preparation} == {each.name: each.value for each in theirs}


def test_this_machine_can_be_asked():
    """Whatever is installed here: a version, or what is wrong."""
    facts = library_facts()
    assert facts.installed == (installed_package() is not None)
    assert facts.version or facts.problem

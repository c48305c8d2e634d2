"""The installed package as products see it: what it raises becomes ours, and what is missing is told."""

from types import SimpleNamespace

import pytest

import mezzotint_kernels
from mezzotint.attention.library import LaunchFailed, Unavailable, Unsupported
from mezzotint.quantization.products.library import InstalledProducts, Preparation, open_products


def package(error=None, problem=None):
    """`mezzotint_kernels` with functions that only remember what they are given."""
    calls = []

    def queue(*words):
        calls.append(words)
        if error is not None:
            raise error

    names = {name: getattr(mezzotint_kernels, name) for name in mezzotint_kernels.__all__}
    facts = SimpleNamespace(version="0.1.0", abi=1, architectures=("sm_80",), driver="13.0", problem=problem)
    made = names | {"quantize_rows": queue, "linear_forward": queue, "info": lambda: facts}
    return SimpleNamespace(**made, calls=calls)


def test_calls_reach_the_package():
    given = package()
    library = open_products(lambda: given)
    rows, product = library.new_quantize_arguments(), library.new_linear_arguments()
    library.quantize(rows, 1, 7)
    library.multiply(product, 1, 8)
    assert given.calls == [(rows, 1, 7), (product, 1, 8)] and library.device_type == "cuda"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (mezzotint_kernels.Unsupported, Unsupported),
        (mezzotint_kernels.KernelsUnavailable, Unavailable),
        (mezzotint_kernels.InvalidArgument, ValueError),
        (mezzotint_kernels.LaunchFailed, LaunchFailed),
    ],
)
@pytest.mark.parametrize("function", ["quantize", "multiply"])
def test_what_it_raises_becomes_ours(function, theirs, ours):
    library = InstalledProducts(package(theirs("rows is -1")))
    with pytest.raises(ours, match="rows is -1"):
        getattr(library, function)(None, 0, 0)


def test_what_is_missing_is_told():
    with pytest.raises(Unavailable, match="mezzotint_kernels is not installed: run make kernels"):
        open_products(lambda: None)
    with pytest.raises(Unavailable, match="no driver"):
        open_products(lambda: package(problem="no driver"))


def test_preparations_have_the_numbers_of_the_library():
    theirs = mezzotint_kernels.Preparation
    assert {each.name: each.value for each in Preparation} == {each.name: each.value for each in theirs}

"""The doctor's view of our attention, over a library that is stood in for on the processor."""

import re

import pytest
from card_kernels import CardNf4
from fake_backward import FakeBackward
from fake_group_norm import FakeGroupNorm, fake_group_norm_backend
from fake_kernels import FakeKernels, fake_backends
from fake_linear_attention import FakeLinearAttention, fake_linear_backend
from fake_products import EmulatedBlackwell, FakeProducts, fake_product_backends

from mezzotint import machine
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.attention.self_test import run_backward_self_test
from mezzotint.cli.doctor.kernels import kernel_report
from mezzotint.dispatch.library import LibraryFacts, Unavailable, Unsupported
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.protocol import DeviceInfo
from mezzotint.quantization.products.bitsandbytes import BitsAndBytesLinear
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.quantization.products.self_test import CASES

CPU = DeviceInfo(id="cpu", name="a stand-in for a card", memory_bytes=1)
OTHER = DeviceInfo(id="mps", name="another", memory_bytes=1)
SOME_BY_OTHERS = "passed 8 cases, by other kernels an autoencoder's attention"
SOUND = LibraryFacts(installed=True, version="0.1.0", abi=1)


@pytest.fixture(autouse=True)
def _sixteen_bits(monkeypatch):
    monkeypatch.setattr(machine, "choose_dtype", lambda wanted, device: "bfloat16")


def report(kernels, library=SOUND, devices=(CPU, OTHER)):
    return kernel_report(devices, library, fake_backends(kernels))


@pytest.mark.slow
def test_what_is_sound_can_be_asked_for():
    found = report(FakeKernels())
    assert found.usable == ("flash", "flash-fp16", "int8", "int8-all", "int8-fp8", "sdpa", "reference")
    tested = ("flash", "flash-fp16", "int8", "int8-all", "int8-fp8")
    assert found.self_tests == {f"cpu {name} bfloat16": "passed 8 cases" for name in tested}
    assert found.failed == ()


def test_what_is_wrong_cannot():
    found = report(FakeKernels("nan", only=lambda asked: asked.flags == 2))
    assert found.usable == ("flash", "flash-fp16", "int8-all", "int8-fp8", "sdpa", "reference")
    assert found.failed == ("cpu int8 bfloat16",)
    assert "contains NaN" in found.self_tests["cpu int8 bfloat16"]


def test_what_there_is_no_kernel_for_is_named():
    told = report(FakeKernels(head_sizes={64, 72, 128})).self_tests["cpu flash bfloat16"]
    assert told == "passed 6 cases, no kernel for a wide head's self-attention, an autoencoder's attention"


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("without", "said"),
    [(lambda head: True, "passed 8 cases, all by other kernels"), (lambda head: head == 512, SOME_BY_OTHERS)],
    ids=["all", "some"],
)
def test_what_other_kernels_do_is_named(without, said):
    class HasNone(FakeKernels):
        def plan(self, arguments, device):
            if arguments.flags & 16 and without(arguments.head_dim):
                raise Unsupported("sums in float16 are no faster on architecture 80")
            return super().plan(arguments, device)

    found = report(HasNone())
    assert found.self_tests["cpu flash-fp16 bfloat16"] == said
    assert found.self_tests["cpu flash bfloat16"] == "passed 8 cases"


def test_kernels_that_are_left_out_are_named():
    found = report(FakeKernels("wrong", only=lambda asked: not asked.flags & 64), devices=(CPU,))
    told = found.self_tests["cpu flash bfloat16"]
    assert told.startswith("passed 8 cases, without Hopper's own kernels, since the self-test failed at")


def test_a_device_that_breaks_is_told():
    def full(arguments, device):
        raise Unavailable("the device is full")

    kernels = FakeKernels()
    kernels.plan = full
    found = report(kernels)
    assert found.failed and "the device is full" in found.self_tests["cpu flash bfloat16"]


def test_a_library_that_cannot_be_used_is_not_tried():
    kernels = FakeKernels()
    found = report(kernels, LibraryFacts(installed=True, problem="no driver"))
    assert (found.usable, found.self_tests, kernels.launches) == (("sdpa", "reference"), {}, [])


def test_this_machine():
    found = kernel_report(machine.devices()[-1:])  # the processor: whatever is installed, nothing to test
    assert found.self_tests == {} and found.usable == ("sdpa", "reference")


def products_report(library):
    return kernel_report((CPU, OTHER), SOUND, fake_backends(FakeKernels()), fake_product_backends(library))


def test_products_that_are_sound():
    found = products_report(FakeProducts())
    cases, schemes = re.fullmatch(r"passed (\d+) cases \((.*)\)", found.self_tests["cpu products bfloat16"]).groups()
    assert int(cases) == len(CASES["kernels"])
    assert set(schemes.split(", ")) == {case.format.scheme for case in CASES["kernels"]}
    assert (found.products_problem, found.failed) == (None, ())


def test_products_that_are_wrong():
    found = products_report(FakeProducts("nan"))
    wrong = ("cpu products bfloat16", "cpu 8-bit convolutions bfloat16")
    assert found.failed == wrong and found.usable[0] == "flash"
    assert found.products_problem == found.self_tests["cpu products bfloat16"]
    assert "contains NaN" in found.products_problem


@pytest.mark.slow
def test_block_scaled_products_of_devices_that_have_none_are_no_failure():
    found = products_report(FakeProducts())
    said = "no kernel for this device: block-scaled numbers need 12.x"
    assert found.self_tests["cpu block-scaled products bfloat16"] == said
    assert found.failed == ()


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.slow
def test_block_scaled_products_are_tested_where_they_are():
    class Wrong(EmulatedBlackwell):
        def multiply_block_scaled(self, arguments, device, stream):
            arguments.weight_scale = None
            super().multiply_block_scaled(arguments, device, stream)

    name = "cpu block-scaled products bfloat16"
    assert products_report(EmulatedBlackwell()).self_tests[name] == "passed 4 cases (nvfp4, mxfp8)"
    assert products_report(Wrong()).failed == (name,)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("fault", "told"), [(None, "passed 6 cases"), ("nan", "contains NaN")])
def test_linear_attention(fault, told):
    linear = fake_linear_backend(FakeLinearAttention(fault))
    found = kernel_report((CPU, OTHER), SOUND, fake_backends(FakeKernels()), linear=linear)
    assert told in found.self_tests["cpu linear attention bfloat16"]
    assert found.failed == (("cpu linear attention bfloat16",) if fault else ())
    assert found.usable == ("flash", "flash-fp16", "int8", "int8-all", "int8-fp8", "sdpa", "reference")


@pytest.mark.parametrize(
    ("fault", "told"), [("nan", "contains NaN"), pytest.param(None, "passed 7 cases", marks=pytest.mark.slow)]
)
def test_gradients_of_attention(fault, told):
    backward = KernelBackend(
        open_kernels=lambda: CompiledBackward(FakeBackward(fault)),
        test=run_backward_self_test,
        wrong_device=lambda device: None if device == "cpu" else f"the device is {device}",
        wrong_dtype=lambda _: None,
    )
    found = kernel_report((CPU, OTHER), SOUND, fake_backends(error=Unavailable("not here")), backward=backward)
    assert told in found.self_tests["cpu gradients of attention bfloat16"]
    assert found.failed == (("cpu gradients of attention bfloat16",) if fault else ())


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("fault", "told"), [(None, "passed 5 cases"), ("nan", "contains NaN")])
def test_group_norm(fault, told):
    backend = fake_group_norm_backend(FakeGroupNorm(fault))
    found = kernel_report((CPU, OTHER), SOUND, fake_backends(FakeKernels()), group_norm=backend)
    assert told in found.self_tests["cpu GroupNorm bfloat16"]
    assert found.failed == (("cpu GroupNorm bfloat16",) if fault else ())


@pytest.mark.slow
def test_weights_in_nf4():
    backends = ProductBackends(device_type="cpu", open_nf4=lambda: BitsAndBytesLinear(CardNf4(), "cpu"))
    found = kernel_report((CPU, OTHER), LibraryFacts(problem="no driver"), None, backends)
    assert (found.self_tests, found.nf4_problem) == ({"cpu NF4 products bfloat16": "passed 3 cases (int4)"}, None)
    assert found.products_problem == "no driver"
    assert products_report(FakeProducts()).nf4_problem == "bitsandbytes is not here"
    assert "the device is cpu" in kernel_report((CPU,), SOUND).nf4_problem


def test_why_there_are_no_products():
    assert "no device" in report(FakeKernels()).products_problem
    assert report(FakeKernels(), LibraryFacts(installed=True, problem="no driver")).products_problem == "no driver"

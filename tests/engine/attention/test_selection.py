"""What is chosen: by what was asked, the device, the format, the library, and its self-test."""

import pytest
import torch
from fake_kernels import FakeKernels, fake_backends

from mezzotint.attention import selection
from mezzotint.attention.selection import AttentionBackends, torch_attention
from mezzotint.dispatch.library import Unavailable
from mezzotint.errors import UsageError


def used(backends, asked, notices, device="cpu", dtype="bfloat16"):
    return backends.session(asked, device, dtype, notices).used


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("auto", "flash"),
        ("flash", "flash"),
        ("int8", "int8"),
        ("int8-all", "int8-all"),
        ("int8-fp8", "int8-fp8"),
        ("sdpa", "sdpa"),
        ("reference", "reference"),
    ],
)
def test_where_the_kernels_can_be_used(asked, expected, notices):
    session = fake_backends(FakeKernels()).session(asked, "cpu", "bfloat16", notices)
    assert (session.asked, session.used, session.fallbacks, notices) == (asked, expected, (), [])


def test_auto_never_takes_what_costs_quality(notices):
    kernels = FakeKernels()
    assert used(fake_backends(kernels), "auto", notices) == "flash"
    assert not any(asked.flags & 2 for asked in kernels.launches)


@pytest.mark.parametrize(("device", "dtype"), [("mps", "float16"), ("cuda:1", "float16"), ("cpu", "float32")])
def test_where_they_cannot_auto_is_sdpa_without_a_word(device, dtype, notices):
    assert used(fake_backends(FakeKernels()), "auto", notices, device, dtype) == "sdpa"
    assert notices == []


@pytest.mark.parametrize(("asked", "expected"), [("auto", "sdpa"), ("flash", "flash")])
def test_where_torch_s_is_faster_ours_is_only_used_when_asked_for(asked, expected, notices, monkeypatch):
    monkeypatch.setattr(selection, "has_tcgen05", lambda device: device == "cpu")
    session = fake_backends(FakeKernels()).session(asked, "cpu", "bfloat16", notices)
    assert (session.asked, session.used, notices) == (asked, expected, [])


def test_without_a_library_auto_is_sdpa(notices):
    assert used(fake_backends(error=Unavailable("nothing here")), "auto", notices) == "sdpa"


@pytest.mark.parametrize("asked", ["flash", "int8", "int8-all", "int8-fp8"])
@pytest.mark.parametrize(
    ("backends", "device", "dtype", "message"),
    [
        (fake_backends(error=Unavailable("not installed: run make kernels")), "cpu", "float16", "run make kernels"),
        (fake_backends(FakeKernels()), "mps", "float16", "device is mps; choose a GPU with --device cuda"),
        (fake_backends(FakeKernels()), "cpu", "float32", "not float32; choose --dtype bfloat16 or float16"),
        (AttentionBackends(), "cpu", "float32", "needs an NVIDIA GPU, and the device is cpu"),
    ],
)
def test_what_is_asked_and_cannot_be_is_refused_with_the_way_out(asked, backends, device, dtype, message, notices):
    with pytest.raises(UsageError, match=message) as error:
        backends.session(asked, device, dtype, notices)
    assert f"attention {asked!r}" in str(error.value) and "--attention auto" in str(error.value)


@pytest.mark.parametrize("asked", ["auto", "flash", "int8", "int8-all", "int8-fp8"])
@pytest.mark.parametrize("fault", ["wrong", "nan", "launch", "bug"])
def test_a_failed_self_test_is_told_once_and_recorded(asked, fault, notices):
    backends = fake_backends(FakeKernels(fault))
    session = backends.session(asked, "cpu", "bfloat16", notices)
    assert session.used == "sdpa"
    (fallback,) = session.fallbacks
    assert fallback.calls == 0
    ((code, message),) = notices
    assert code == "attention_fell_back" and fallback.reason in message
    assert repr("flash" if asked == "auto" else asked) in message


def test_a_device_without_kernels_is_told_to_those_who_asked_for_them(notices):
    backends = fake_backends(FakeKernels("unsupported"))
    assert used(backends, "auto", notices) == "sdpa" and notices == []
    session = backends.session("flash", "cpu", "bfloat16", notices)
    assert session.used == "sdpa" and "no kernel for this device" in session.fallbacks[0].reason
    assert len(notices) == 1


def test_the_self_test_runs_once_for_a_device_and_a_format(notices):
    kernels = FakeKernels()
    backends = fake_backends(kernels)
    used(backends, "auto", notices)
    first = len(kernels.launches)
    assert first > 0
    used(backends, "flash", notices)
    assert len(kernels.launches) == first
    used(backends, "flash", notices, dtype="float16")
    assert len(kernels.launches) == 2 * first
    used(backends, "int8", notices)
    assert len(kernels.launches) == 3 * first


def test_the_library_is_opened_only_where_it_could_be_used(notices):
    opened = []

    def open_library():
        opened.append(1)
        return FakeKernels()

    backends = AttentionBackends(open_library, device_type="cpu")
    used(backends, "sdpa", notices)
    used(backends, "reference", notices)
    used(backends, "auto", notices, device="mps")
    assert opened == []
    used(backends, "auto", notices)
    used(backends, "flash", notices)
    assert opened == [1]


def test_for_the_reference_torch_s_own_is_plain_too(notices):
    backends = AttentionBackends()
    with torch_attention(backends.session("reference", "cpu", "float32", notices)):
        inside = torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled() and not inside
    with torch_attention(backends.session("sdpa", "cpu", "float32", notices)):
        assert torch.backends.cuda.flash_sdp_enabled()

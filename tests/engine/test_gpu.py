"""What torch's backends have and tell, each as its documentation has it, over modules that are stood in for."""

from types import SimpleNamespace

import pytest

from mezzotint.gpu import gpu, gpus, has_tcgen05, index_of, opened_gpu, runs_kernels

GB = 2**30


def called(told):
    """Remembers what a function of a module was given."""
    return lambda *given: told.append(given)


def module(count=1, told=None, **properties):
    given = {"name": "a card", "total_memory": 8 * GB} | properties
    return SimpleNamespace(
        is_available=lambda: count > 0,
        is_initialized=lambda: count > 0,
        is_bf16_supported=lambda: True,
        device_count=lambda: count,
        get_device_properties=lambda index: SimpleNamespace(**given),
        mem_get_info=lambda index: (5 * GB, 8 * GB),
        memory_reserved=lambda index: GB,
        max_memory_allocated=lambda index: 2 * GB,
        set_per_process_memory_fraction=called(told),
        empty_cache=lambda: told.append("emptied"),
    )


def torch_with(hip=None, metal=False, **modules):
    mps = SimpleNamespace(recommended_max_memory=lambda: 10 * GB, driver_allocated_memory=lambda: 3 * GB)
    return SimpleNamespace(
        version=SimpleNamespace(hip=hip),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: metal)),
        **{"cuda": module(0), "xpu": module(0), "mps": mps} | modules,
    )


NVIDIA = torch_with(cuda=module(2, major=8, minor=6, multi_processor_count=28))
AMD = torch_with(hip="7.0", cuda=module(1, gcnArchName="gfx1103:sramecc-", multi_processor_count=6, is_integrated=1))
INTEL = torch_with(xpu=module(1, gpu_subslice_count=32, is_integrated_gpu=False))
APPLE = torch_with(metal=True)


@pytest.mark.parametrize(
    ("torch", "wanted"),
    [
        (NVIDIA, [("cuda:0", "sm_86", 28, False), ("cuda:1", "sm_86", 28, False)]),
        (AMD, [("cuda:0", "gfx1103", 6, True)]),
        (INTEL, [("xpu:0", "xe", 32, False)]),
        (APPLE, [("mps", "apple", 1, True)]),
        (torch_with(), []),
    ],
)
def test_what_is_here(torch, wanted):
    found = [
        (name, one.architecture(index), one.processors(index), one.shares_ram(index))
        for name, one, index in gpus(torch)
    ]
    assert found == wanted


@pytest.mark.parametrize(
    ("device", "torch", "streams", "measures", "bfloat16", "lacks"),
    [
        ("cuda:1", NVIDIA, True, True, True, 0),
        ("cuda:0", torch_with(cuda=module(major=7, minor=5)), True, True, False, 0),
        ("cuda:0", AMD, True, True, True, 1),
        ("xpu:0", INTEL, False, True, True, 3),
        ("mps", APPLE, False, False, False, 4),
    ],
)
def test_what_each_has(device, torch, streams, measures, bfloat16, lacks):
    found = gpu(device, torch)
    assert (found.has_streams, found.measures, found.has_bfloat16(0), len(found.missing_features)) == (
        streams,
        measures,
        bfloat16,
        lacks,
    )


@pytest.mark.parametrize(
    ("device", "torch", "wanted"),
    [("cuda:0", NVIDIA, (8, 5, 1)), ("xpu:0", INTEL, (8, 5, 1)), ("mps", APPLE, (10, 7, 3))],
)
def test_memory_is_what_the_backend_tells(device, torch, wanted):
    found = gpu(device, torch)
    assert tuple(each // GB for each in (found.total_bytes(0), found.free_bytes(0), found.held_bytes(0))) == wanted


def test_a_driver_of_intel_s_that_does_not_tell_what_is_free():
    def unknown(index):
        raise RuntimeError("the device does not support querying the available free memory")

    silent = torch_with(xpu=module())
    silent.xpu.mem_get_info = unknown
    assert gpu("xpu:0", silent).free_bytes(0) == 7 * GB
    silent.cuda = silent.xpu
    with pytest.raises(RuntimeError):
        gpu("cuda:0", silent).free_bytes(0)


def test_a_limit_is_set_where_torch_has_one():
    told = []
    gpu("xpu:0", torch_with(xpu=module(told=told))).limit(0.5, 0)
    assert told == [(0.5, 0)]
    old = torch_with(xpu=module())
    del old.xpu.set_per_process_memory_fraction
    gpu("xpu:0", old).limit(0.5, 0)
    gpu("mps", APPLE).limit(0.5, 0)
    gpu("mps", APPLE).reset_peak(0)


def test_what_this_process_uses():
    assert opened_gpu(INTEL).type == "xpu"
    assert opened_gpu(APPLE).type == "mps"
    assert opened_gpu(torch_with()) is None
    assert opened_gpu(SimpleNamespace()) is None


def test_a_processor_is_none(monkeypatch):
    assert gpu("cpu") is None and gpu("tpu:0") is None
    assert [index_of(name) for name in ("cuda", "cuda:3", "mps")] == [0, 3, 0]


def test_kernels_of_cuda_run_on_nvidia_s_cards_alone(monkeypatch):
    import torch

    assert runs_kernels("cuda:0") and not runs_kernels("xpu:0") and runs_kernels("cpu", "cpu")
    monkeypatch.setattr(torch.version, "hip", "7.0", raising=False)
    assert not runs_kernels("cuda:0")


@pytest.mark.parametrize("minor", [0, 3])
def test_products_by_tcgen05_are_those_of_data_center_blackwell(minor):
    blackwell = torch_with(cuda=module(1, major=10, minor=minor))
    assert has_tcgen05("cuda:0", blackwell) and not has_tcgen05("cpu", blackwell)
    small = torch_with(cuda=module(1, major=12, minor=0))
    assert not any(has_tcgen05(*each) for each in (("cuda", small), ("cuda", NVIDIA), ("cuda", AMD), ("mps", APPLE)))

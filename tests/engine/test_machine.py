"""Devices, number formats and memory, on whatever machine the tests run."""

import mmap
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import torch

from mezzotint import machine
from mezzotint.errors import NoDevice, NoEngine
from mezzotint.machine import PeakMemory, choose_device, choose_dtype, devices, engine_versions, versions
from mezzotint.protocol import DeviceInfo

CPU = DeviceInfo(id="cpu", name="a processor", memory_bytes=2**34)
CARD = DeviceInfo(id="cuda:0", name="a card", memory_bytes=2**33)


def test_the_processor_is_always_there_and_last():
    assert devices()[-1].id == "cpu"
    assert devices()[-1].memory_bytes > 2**28


def test_auto_takes_the_best():
    assert choose_device("auto", (CARD, CPU)) is CARD
    assert choose_device("cuda", (CARD, CPU)) is CARD
    assert choose_device("cpu", (CARD, CPU)) is CPU


@pytest.mark.parametrize("wanted", ["cuda:1", "mps", "tpu", ""])
def test_a_device_that_is_not_here(wanted):
    with pytest.raises(NoDevice, match="cuda:0, cpu"):
        choose_device(wanted, (CARD, CPU))


def test_formats(monkeypatch):
    assert choose_dtype("auto", CPU) == "float32"
    assert choose_dtype("bfloat16", CPU) == "bfloat16"
    majors = [8, 7]  # Ampere, and Turing, which only emulates bfloat16
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: SimpleNamespace(major=majors[index]))
    assert choose_dtype("auto", CARD) == "bfloat16"
    assert choose_dtype("auto", replace(CARD, id="cuda:1")) == "float16"
    assert choose_dtype("auto", replace(CARD, id="mps")) == "float16"


def test_the_peak_is_seen_after_it_is_over():
    memory = PeakMemory(torch.device("cpu"))
    with mmap.mmap(-1, 200_000_000) as pages:  # straight from the system: freed memory would be had again unseen
        np.frombuffer(pages, dtype=np.uint8)[:] = 1
    assert memory.ram_bytes() >= psutil.Process().memory_info().rss + 100_000_000
    assert memory.vram_bytes() is None


def test_versions_name_what_can_change_a_pixel():
    assert {"mezzotint", "python", "torch", "diffusers", "transformers"} <= versions().keys()
    assert engine_versions() == versions()


def test_without_torch_other_versions_are_told_and_an_engine_is_refused(monkeypatch):
    monkeypatch.setattr(machine, "_version", lambda name: None if name in ("torch", "diffusers") else "1")
    assert versions()["pillow"] == "1" and "torch" not in versions()
    with pytest.raises(NoEngine, match="missing: torch, diffusers"):
        engine_versions()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_memory_of_the_c_heap_and_of_cycles_is_returned_to_the_system():
    def held():
        return psutil.Process().memory_info().rss

    class Cycle:
        def __init__(self):
            self.me, self.parts = self, [bytearray(100_000) for _ in range(2_000)]  # below what malloc maps by itself
            self.after = bytearray(100)

    kept = Cycle()
    full = held()
    keep = kept.after  # the heap does not shrink from its end
    del kept
    machine.release_memory()
    assert full - held() > 150_000_000
    assert len(keep) == 100


def test_without_glibc_nothing_is_trimmed():
    machine.release_memory(lambda: object())

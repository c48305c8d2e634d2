"""Networks streamed from their files: the same numbers, read each time, and every trouble told."""

import os
import shutil
import sys

import pytest
import torch
from fake_card.install import fake_card
from safetensors.torch import save_file
from streamed_networks import case

from mezzotint.errors import ModelRefused, StorageError
from mezzotint.memory import loads
from mezzotint.memory.copying import Staging
from mezzotint.memory.device import open_device
from mezzotint.memory.disk import DiskWeights
from mezzotint.memory.streaming import StreamedNetwork

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be cut or removed there")


@pytest.fixture(
    params=[
        ("flux", "none"),
        ("pixart", "int8"),
        pytest.param(("sdxl", "int4-lowrank"), marks=pytest.mark.slow),
        ("flux", "int4"),
    ],
    ids="-".join,
)
def on_disk(request, tmp_path):
    """A network of which nothing that its file holds is left in RAM, and that file."""
    case.cache_clear()
    chosen = case(*request.param)
    yield chosen, _written(chosen, tmp_path)
    case.cache_clear()


@pytest.fixture
def flux_on_disk(tmp_path):
    case.cache_clear()
    chosen = case("flux")
    yield chosen, _written(chosen, tmp_path)
    case.cache_clear()


def _written(chosen, folder):
    path = folder / "weights.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in chosen.network.state_dict().items()}, path)
    return path


def streamed(chosen, path, device, resident=1, slots=2):
    disk = DiskWeights([path])
    return disk, StreamedNetwork(
        chosen.network,
        chosen.blocks,
        resident=resident,
        slots=slots,
        copier=device.copier,
        arena=device.arena,
        disk=disk.fitting(chosen.network),
    )


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("reading", [True, False])
def test_the_numbers_are_the_same_and_nothing_stays_in_ram(on_disk, reading):
    chosen, path = on_disk
    device = open_device(torch.device("cpu"), simulated=True, cap=64 * 2**20, reading=reading)
    disk, network = streamed(chosen, path, device)
    assert all(tensor.is_meta for tensor in chosen.network.state_dict().values())
    for _ in range(2):
        network.enter()
        network.ready()
        with device.counting():
            assert all(chosen.call().equal(chosen.answer) for _ in range(2))
        network.leave()
    assert all(tensor.is_meta for tensor in chosen.network.state_dict().values())
    assert device.ledger.in_use == 0
    disk.close()
    device.close()


def test_from_files_to_a_card_a_block_is_one_copy_and_in_order(flux_on_disk, monkeypatch):
    monkeypatch.setattr(loads, "PART", 1000)  # several threads read each block
    chosen, path = flux_on_disk
    with fake_card(64 * 2**20) as card:
        device = open_device(torch.device("cuda:0"))
        disk, network = streamed(chosen, path, device, resident=0)
        pieces, brought, turned = [], Staging.bring, Staging._next

        def bring(self, copy, stream):
            pieces.append(0)
            brought(self, copy, stream)

        def turn(self):
            pieces[-1] += 1
            return turned(self)

        monkeypatch.setattr(Staging, "bring", bring)
        monkeypatch.setattr(Staging, "_next", turn)
        network.enter()
        network.ready()
        for _ in range(2):
            assert chosen.call_on(torch.device("cuda:0")).cpu().equal(chosen.answer)
        network.leave()
        assert card.hazards == []
        assert set(pieces) == {1} and len(pieces) >= len(chosen.blocks)
        disk.close()
        device.close()


@on_posix
@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize("trouble", ["cut", "written to", "closed"])
def test_a_file_that_changes_between_steps_is_told_and_the_network_leaves_in_order(flux_on_disk, reading, trouble):
    chosen, path = flux_on_disk
    whole = shutil.copy(path, path.with_suffix(".whole"))
    device = open_device(torch.device("cpu"), reading=reading)
    disk, network = streamed(chosen, path, device, resident=0, slots=1)
    network.enter()
    network.ready()
    assert chosen.call().equal(chosen.answer)
    if trouble == "cut":
        os.truncate(path, 2000)
    elif trouble == "written to":
        os.utime(path, ns=(1, 1))
    else:
        disk.close()
    with pytest.raises(StorageError, match="became shorter|changed while it was in use|cannot be read"):
        chosen.call()
        chosen.call()
    network.leave()
    assert device.arena.in_use == 0
    _, again = streamed(chosen, whole, device)
    again.enter()
    again.ready()
    assert chosen.call().equal(chosen.answer)
    again.leave()
    device.close()


@on_posix
@pytest.mark.parametrize("reading", [True, False])
def test_a_file_that_was_cut_before_the_network_comes(flux_on_disk, reading):
    chosen, path = flux_on_disk
    device = open_device(torch.device("cpu"), reading=reading)
    _, network = streamed(chosen, path, device)
    os.truncate(path, 2000)
    with pytest.raises(StorageError, match="became shorter|changed while it was in use"):
        network.enter()
        network.ready()
    network.leave()
    assert device.arena.in_use == 0
    assert not any(module._forward_pre_hooks for module in chosen.network.modules())
    device.close()


@on_posix
def test_a_file_whose_name_vanishes_goes_on(flux_on_disk):
    chosen, path = flux_on_disk
    device = open_device(torch.device("cpu"))
    _, network = streamed(chosen, path, device, resident=0, slots=1)
    network.enter()
    network.ready()
    path.unlink()
    assert all(chosen.call().equal(chosen.answer) for _ in range(2))
    network.leave()
    device.close()
    with pytest.raises(StorageError, match="does not exist"):
        DiskWeights([path])


def test_tensors_that_cannot_become_what_is_wanted_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_file({"weight": torch.randn(3, 4)}, path)
    disk = DiskWeights([path])
    assert list(disk) == ["weight"] and "bias" not in disk and disk.shape("weight") == (3, 4)
    with pytest.raises(ModelRefused, match=r"\(3, 4\) instead of \(5, 5\)"):
        disk.tensor("weight", shape=(5, 5), dtype=torch.float32)
    with pytest.raises(KeyError):
        disk.tensor("bias", shape=(3,), dtype=torch.float32)
    assert disk.tensor("weight", shape=(12,), dtype=torch.float16).tensor().shape == (12,)


def test_one_file_of_several_that_is_missing(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_file({"weight": torch.randn(3, 4)}, path)
    with pytest.raises(StorageError, match="does not exist"):
        DiskWeights([path, tmp_path / "more.safetensors"])

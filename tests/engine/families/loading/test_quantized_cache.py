"""What was quantized as it was loaded is read the next time, bit for bit; and no trouble with it stops a job."""

import os
import shutil
import time
from pathlib import Path

import pytest
import torch

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.checkpoints.write import SafetensorsWriter
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading import weight_loader
from mezzotint.families.loading.networks import load_components
from mezzotint.families.loading.quantized_cache import QuantizedCache
from mezzotint.quantization.policy import Choice

TRANSFORMER = Path("transformer/diffusion_pytorch_model.safetensors")
HOUR = 3600
PLENTY = 10**15


def aged(path, seconds=HOUR):
    """As if it had been written some time ago."""
    for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
        stamp = time.time() - seconds
        os.utime(file, (stamp, stamp))
    return path


@pytest.fixture
def pixart(tiny_pixart_folder, tmp_path):
    return aged(Path(shutil.copytree(tiny_pixart_folder, tmp_path / "model", copy_function=shutil.copyfile)))


@pytest.fixture
def troubles():
    return []


@pytest.fixture
def cache(tmp_path, troubles):
    def build(**changes):
        fields = {"least_bytes": 0, "free": lambda _: PLENTY} | changes
        return QuantizedCache(folder=tmp_path / "cache" / "quantized", on_trouble=troubles.append, **fields)

    return build


@pytest.fixture
def quantized(monkeypatch):
    """The layers that are quantized, rather than read."""
    names = []
    keep = weight_loader.WeightLoader.put

    def put(self, placed, tensor, file):
        names.extend([placed.name] if placed.name.removesuffix(".weight") in self._formats else [])
        keep(self, placed, tensor, file)

    monkeypatch.setattr(weight_loader.WeightLoader, "put", put)
    return names


def load(path, cache, *, scheme="int8", names=("transformer",), seen=None, cancelled=lambda: False, **more):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    choices = {name: Choice(scheme=scheme, **more) for name in names if name != "vae"}
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, quantization=choices)
    counted = [] if seen is None else seen
    load_components(
        model,
        names,
        on_bytes=lambda name, count: counted.append((name, count)),
        cancelled=cancelled,
        notify=lambda _: None,
        cache=cache,
    )
    return model.networks


def same(found, wanted):
    for name, network in wanted.items():
        left, right = found[name].state_dict(), network.state_dict()
        assert left.keys() == right.keys()
        assert all(left[key].equal(tensor) and left[key].dtype == tensor.dtype for key, tensor in right.items())


def entries(cache):
    return sorted(path for path in cache.folder.iterdir()) if cache.folder.exists() else []


@pytest.mark.parametrize("scheme", ["int8", "int8-weight", "int4"])
def test_the_second_time_it_is_read(pixart, cache, quantized, troubles, scheme):
    first = load(pixart, cache(), scheme=scheme)
    assert len(entries(cache())) == 1
    assert quantized
    quantized.clear()
    second = load(pixart, cache(), scheme=scheme)
    assert quantized == []
    same(second, first)
    same(second, load(pixart, None, scheme=scheme))
    assert troubles == []


@pytest.mark.slow
def test_a_branch_of_low_rank_is_kept_too(tiny_sdxl_folder, tmp_path, cache, quantized, monkeypatch):
    monkeypatch.setattr("mezzotint.quantization.policy._BRANCH_PAYS", 9.0)
    folder = aged(Path(shutil.copytree(tiny_sdxl_folder, tmp_path / "xl", copy_function=shutil.copyfile)))
    first = load(folder, cache(), scheme="int4-lowrank", names=("unet",))
    assert any(key.endswith("quantized_weight_up") for key in first["unet"].state_dict())
    quantized.clear()
    same(load(folder, cache(), scheme="int4-lowrank", names=("unet",)), first)
    assert quantized == []


def test_networks_in_one_file_are_kept_apart_and_bytes_are_counted_once(tiny_single_file, tmp_path, cache, quantized):
    path = aged(Path(shutil.copyfile(tiny_single_file, tmp_path / "model.safetensors")))
    names, seen, again = ("unet", "vae", "text_encoder", "text_encoder_2"), [], []
    first = load(path, cache(), names=names, seen=seen)
    assert len(entries(cache())) == 3
    quantized.clear()
    same(load(path, cache(), names=names, seen=again), first)
    assert quantized == []
    for name in names:
        assert sum(count for one, count in again if one == name) == sum(count for one, count in seen if one == name)
    entries(cache())[0].unlink()
    same(load(path, cache(), names=names), first)
    assert quantized
    assert len(entries(cache())) == 3


@pytest.mark.parametrize("change", [{"scheme": "int4"}, {"convolutions": False}, {"rotate": False}])
def test_another_choice_is_another_entry(pixart, cache, change):
    load(pixart, cache())
    load(pixart, cache(), **change)
    assert len(entries(cache())) == 2


def test_other_threads_and_other_libraries_make_other_numbers(pixart, cache, monkeypatch):
    load(pixart, cache())
    monkeypatch.setattr(torch, "get_num_threads", lambda: 97)
    load(pixart, cache())
    monkeypatch.setattr(torch, "__version__", "97.0")
    load(pixart, cache())
    assert len(entries(cache())) == 3


def test_a_file_that_changed_is_quantized_again(pixart, cache, quantized):
    load(pixart, cache())
    aged(pixart / TRANSFORMER, 2 * HOUR)
    quantized.clear()
    load(pixart, cache())
    assert quantized
    assert len(entries(cache())) == 2


def test_a_file_so_young_that_a_change_would_not_show_is_not_kept(pixart, cache):
    aged(pixart / TRANSFORMER, 0)
    load(pixart, cache())
    assert entries(cache()) == []


def test_small_networks_are_not_kept(pixart, tmp_path):
    load(pixart, QuantizedCache(folder=tmp_path / "cache", on_trouble=lambda _: None))
    assert not (tmp_path / "cache").exists()


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def flip(path):
    data = bytearray(path.read_bytes())
    data[-len(data) // 3] ^= 0x10
    path.write_bytes(data)


def lengthened(path):
    path.write_bytes(path.read_bytes() + b"\0")


@pytest.mark.parametrize("damage", [cut, flip, lengthened, lambda path: path.write_bytes(b"")])
def test_a_damaged_entry_is_made_again(pixart, cache, quantized, troubles, damage):
    first = load(pixart, cache())
    (entry,) = entries(cache())
    whole = entry.read_bytes()
    damage(entry)
    quantized.clear()
    same(load(pixart, cache()), first)
    assert quantized
    assert entries(cache()) == [entry]
    assert entry.read_bytes() == whole
    assert troubles == []


def test_an_entry_of_another_choice_under_its_name_is_made_again(pixart, cache, quantized):
    load(pixart, cache())
    (eight,) = entries(cache())
    load(pixart, cache(), scheme="int8-weight")
    (other,) = set(entries(cache())) - {eight}
    shutil.copyfile(other, eight)
    quantized.clear()
    same(load(pixart, cache()), load(pixart, None))
    assert quantized
    assert eight.read_bytes() != other.read_bytes()


def test_a_full_disk_is_told_and_leaves_nothing(pixart, cache, troubles, monkeypatch):
    def add(self, name, tensor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(SafetensorsWriter, "add", add)
        same(load(pixart, cache()), load(pixart, None))
    (told,) = troubles
    assert "transformer is not kept" in told
    assert "No space left" in told
    assert entries(cache()) == []


def test_a_folder_that_cannot_be_is_told(pixart, cache, troubles, tmp_path):
    (tmp_path / "cache").write_text("no folder")
    same(load(pixart, cache()), load(pixart, None))
    assert len(troubles) == 1


def test_a_model_that_is_refused_is_not_kept(pixart, cache):
    from safetensors.torch import load_file, save_file

    tensors = load_file(pixart / TRANSFORMER)
    tensors.pop("proj_out.bias")
    save_file(tensors, pixart / TRANSFORMER)
    aged(pixart / TRANSFORMER)
    with pytest.raises(ModelRefused, match="missing"):
        load(pixart, cache())
    assert entries(cache()) == []


def test_stopping_leaves_nothing(pixart, cache, monkeypatch):
    added, written = SafetensorsWriter.add, []

    def add(self, name, tensor):
        written.append(name)
        added(self, name, tensor)

    monkeypatch.setattr(SafetensorsWriter, "add", add)
    with pytest.raises(Cancelled, match="was kept"):
        load(pixart, cache(), cancelled=lambda: len(written) > 5)
    assert entries(cache()) == []


def test_a_model_that_changes_meanwhile_is_not_kept(pixart, cache, monkeypatch):
    added = SafetensorsWriter.add

    def add(self, name, tensor):
        aged(pixart / TRANSFORMER, 2 * HOUR)
        added(self, name, tensor)

    monkeypatch.setattr(SafetensorsWriter, "add", add)
    load(pixart, cache())
    assert entries(cache()) == []


def test_what_was_not_used_for_longest_is_removed(pixart, cache):
    load(pixart, cache())
    (first,) = entries(cache())
    aged(first, 2 * HOUR)
    load(pixart, cache(), rotate=False)
    (second,) = set(entries(cache())) - {first}
    aged(second, HOUR)
    load(pixart, cache())  # the first is used again
    size = sum(path.stat().st_size for path in entries(cache()))
    load(pixart, cache(most_bytes=size), double=False)
    assert first.exists()
    assert not second.exists()
    assert len(entries(cache())) == 2


def test_no_more_than_a_tenth_of_the_free_disk_is_taken(pixart, cache, troubles):
    load(pixart, cache())
    (first,) = entries(cache())
    size = first.stat().st_size
    load(pixart, cache(free=lambda _: 9 * size), rotate=False)  # ten times would be free without the first
    (second,) = entries(cache())
    assert second != first
    load(pixart, cache(free=lambda _: size), convolutions=False)
    assert entries(cache()) == [second]
    assert troubles == []


def test_what_was_left_half_written_long_ago_is_removed(pixart, cache):
    folder = cache().folder
    folder.mkdir(parents=True)
    old, new = folder / ".new-1.safetensors", folder / ".new-2.safetensors"
    for path in (old, new):
        path.write_bytes(b"half")
    aged(old, 25 * HOUR)
    load(pixart, cache())
    assert not old.exists()
    assert new.exists()

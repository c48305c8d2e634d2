"""Tensors are what the library reads, owned, in the order of the file; trouble on the way is told as ours."""

import gc
import subprocess
import sys

import pytest
import torch
from model_files import HOSTILE_HEADERS, raw, small
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import Cancelled, ModelRefused, StorageError


def read(*files, on_bytes=lambda _: None, cancelled=lambda: False, names=None):
    return read_tensors(files, on_bytes=on_bytes, cancelled=cancelled, names=names)


@pytest.fixture
def file(tmp_path):
    random = torch.Generator().manual_seed(0)
    tensors = {
        "a": torch.randn(3, 4, generator=random),
        "b": torch.randn(5, generator=random).to(torch.bfloat16),
        "c": torch.randn((), generator=random).to(torch.float16),
        "d": torch.zeros(0, 3),
        "e": torch.arange(7),
        "f": torch.randn(8, generator=random).to(torch.float8_e4m3fn),
        "g": torch.tensor([True, False]),
    }
    save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_tensors_are_those_of_the_library(file):
    expected = load_file(file)
    found = dict(read(file))
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert tensor.dtype == expected[name].dtype
        assert tensor.shape == expected[name].shape
        assert tensor.flatten().view(torch.uint8).equal(expected[name].flatten().view(torch.uint8))


def test_they_come_in_the_order_of_the_file_with_their_bytes(file):
    done = []
    names = [name for name, _ in read(file, on_bytes=done.append)]
    specs = read_header(file).tensors
    assert names == list(specs)
    assert done == [spec.end - spec.start for spec in specs.values()]


def test_only_those_named_are_read(file):
    done = []
    assert {name for name, _ in read(file, on_bytes=done.append, names={"a", "e", "unknown"})} == {"a", "e"}
    assert sum(done) == 3 * 4 * 4 + 7 * 8


def test_they_own_their_memory(file):
    tensors = dict(read(file))
    kept = {name: tensor.clone() for name, tensor in tensors.items()}
    with file.open("r+b") as out:
        out.write(bytes(file.stat().st_size))
    file.unlink()
    gc.collect()
    assert all(kept[name].view(-1).view(torch.uint8).equal(tensors[name].view(-1).view(torch.uint8)) for name in kept)
    tensors["a"].add_(1)  # and may be changed
    assert tensors["a"].equal(kept["a"] + 1)


def test_shards_are_read_one_after_the_other(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(small({name: [2]}))
    assert [name for name, _ in read(tmp_path / "b", tmp_path / "a")] == ["b", "a"]


def test_a_name_in_two_shards_is_refused_before_anything_is_read(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(small({"weight": [2], name: [1]}))
    done = []
    with pytest.raises(ModelRefused, match="'weight' is in an earlier file too"):
        list(read(tmp_path / "b", tmp_path / "a", on_bytes=done.append))
    assert done == []
    assert len(list(read(tmp_path / "b", tmp_path / "a", names={"a", "b"}))) == 2


def test_all_headers_are_checked_before_the_first_tensor(tmp_path):
    (tmp_path / "a").write_bytes(small())
    (tmp_path / "b").write_bytes(small()[:-1])
    with pytest.raises(ModelRefused, match="incomplete"):
        next(read(tmp_path / "a", tmp_path / "b"))


@pytest.mark.parametrize("name", ["truncated", "overlap", "zip", "deep", "shape overflows"])
def test_broken_files_never_reach_the_library(tmp_path, monkeypatch, name):
    monkeypatch.setattr("safetensors.safe_open", lambda *_, **__: pytest.fail("the library was asked"))
    (tmp_path / "x").write_bytes(HOSTILE_HEADERS[name][0])
    with pytest.raises(ModelRefused, match=HOSTILE_HEADERS[name][1]):
        list(read(tmp_path / "x"))


def test_it_stops_between_tensors(file):
    done = []
    tensors = read(file, on_bytes=done.append, cancelled=lambda: len(done) == 2)
    next(tensors)
    next(tensors)
    with pytest.raises(Cancelled, match=r"Stopped while model.safetensors was read"):
        next(tensors)
    assert len(done) == 2


def test_it_stops_before_the_first(file):
    with pytest.raises(Cancelled):
        next(read(file, cancelled=lambda: True))


@pytest.mark.slow
def test_a_file_that_shrinks_meanwhile_is_refused_and_the_process_lives(tmp_path):
    # In a process of its own, for the failure that is tested for is its death.
    path = tmp_path / "model.safetensors"
    size = 4 * 2**20
    save_file({"a": torch.zeros(16), "b": torch.zeros(size // 4)}, path)
    code = f"""if True:
        from pathlib import Path
        from mezzotint.checkpoints.read import read_tensors
        from mezzotint.errors import ModelRefused, StorageError
        path = Path({str(path)!r})
        tensors = read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False)
        print(next(tensors)[0])
        with path.open("r+b") as file:
            file.truncate(4096)
        try:
            print(next(tensors)[1].sum())
        except (ModelRefused, StorageError) as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert f"{path} changed meanwhile" in run.stdout or f"{path} cannot be read" in run.stdout


def test_a_file_that_goes_away_meanwhile_is_told(file, monkeypatch):
    import safetensors

    original = safetensors.safe_open

    def gone(path, **options):
        file.unlink()
        return original(path, **options)

    monkeypatch.setattr("safetensors.safe_open", gone)
    with pytest.raises(StorageError, match="cannot be read"):
        list(read(file))


def test_an_error_of_the_one_who_is_told_stays_its_own(file):
    def full(_):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        list(read(file, on_bytes=full))


@pytest.mark.parametrize(("dtype", "shape", "bytes_"), [("F6_E2M3", [4], 3), ("F4", [8], 4), ("F4", [0], 0)])
def test_a_type_that_torch_lacks_is_refused(tmp_path, dtype, shape, bytes_):
    """Also where the library raises torch's own errors."""
    header = {"a": {"dtype": dtype, "shape": shape, "data_offsets": [0, bytes_]}}
    (tmp_path / "x").write_bytes(raw(header, bytes(bytes_)))
    with pytest.raises(ModelRefused, match="cannot be used"):
        list(read(tmp_path / "x"))


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory")]
)
def test_too_little_memory_is_no_fault_of_the_file(tmp_path, monkeypatch, error):
    (tmp_path / "x").write_bytes(small())

    def fails(*_, **__):
        raise error

    monkeypatch.setattr("safetensors.safe_open", fails)
    with pytest.raises(type(error)):
        list(read(tmp_path / "x"))

"""Safetensors files written tensor by tensor: as the library reads them, and whole or absent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file

import mezzotint
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.write import WRITABLE, SafetensorsWriter, header_room, serialized
from mezzotint.errors import StorageError

DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
    torch.complex64,
    torch.uint64,
    torch.uint32,
    torch.uint16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
NAMES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=200).filter(
    lambda name: name != "__metadata__"
)


def write(path, tensors, metadata=None):
    room = header_room(dict.fromkeys(tensors, 1), metadata or {})
    with SafetensorsWriter(path, room) as file:
        for name, tensor in tensors.items():
            file.add(name, tensor)
        file.metadata = metadata or {}
    return path


def ours(path):
    return dict(read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False))


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        assert found[name].flatten().view(torch.uint8).equal(tensor.contiguous().flatten().view(torch.uint8))


def test_the_library_and_our_reader_read_every_number_format(tmp_path):
    tensors = {str(dtype): torch.arange(12).view(3, 4).to(dtype) for dtype in DTYPES}
    assert len(tensors) == len(WRITABLE)
    path = write(tmp_path / "all.safetensors", tensors, {"said": "äß\n\u202e"})
    same(load_file(path), tensors)
    same(ours(path), tensors)
    with safe_open(path, "pt") as file:
        assert file.metadata() == read_header(path).metadata == {"said": "äß\n\u202e"}


@given(st.dictionaries(NAMES, st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=6))
def test_names_and_shapes_of_all_kinds(tmp_path_factory, shapes):
    """Scalars and empty tensors among them; a character of a name can take twelve bytes."""
    tensors = {name: torch.full(shape, 7, dtype=torch.int16) for name, shape in shapes.items()}
    same(load_file(write(tmp_path_factory.mktemp("w") / "a.safetensors", tensors)), tensors)


def test_what_lies_otherwise_in_memory_is_written_in_order(tmp_path):
    wide = torch.arange(12.0).view(3, 4)
    tensors = {"turned": wide.T, "sliced": wide[:, 1:3], "spread": wide[0, :1].expand(5), "learned": wide[1] + 0}
    tensors["learned"].requires_grad_()
    found = load_file(write(tmp_path / "a.safetensors", tensors))
    assert all(found[name].equal(tensor) for name, tensor in tensors.items())


def test_the_header_is_padded_and_tensors_begin_at_a_cache_line(tmp_path):
    path = write(tmp_path / "a.safetensors", {"a": torch.ones(3)})
    length = int.from_bytes(path.read_bytes()[:8], "little")
    assert (8 + length) % 64 == 0
    header = path.read_bytes()[8 : 8 + length]
    assert header.startswith(b"{") and header.rstrip(b" ").endswith(b"}}") and header.endswith(b"  ")
    assert read_header(path).tensors["a"].start == 8 + length


@pytest.mark.parametrize("room", [0, 1, 55, 56, 57, 1000])
def test_a_header_that_outgrows_its_room_is_a_bug_and_no_file(tmp_path, room):
    names = [f"a tensor with a name of its own, number {number}" for number in range(20)]
    with pytest.raises(ValueError, match="were left for it"), SafetensorsWriter(tmp_path / "a.st", room) as file:
        for name in names:
            file.add(name, torch.ones(1))
    assert not list(tmp_path.iterdir())


def test_the_room_that_is_told_is_enough(tmp_path):
    """For names that take ten times their length, and long shapes."""
    counts = {f"layer{'😀' * length}.weight": 8 for length in range(0, 300, 7)}
    parts = ("", "_scale", ".absmax", ".nested_quant_map", ".quant_state.bitsandbytes__nf4", "_up", "_down", "_g")
    with SafetensorsWriter(tmp_path / "a.safetensors", header_room(counts, {})) as file:
        for name in counts:
            for part in parts:
                file.add(name + part, torch.empty(*[0, 1, 2**10, 2**20], dtype=torch.float8_e4m3fnuz))
    assert len(load_file(tmp_path / "a.safetensors")) == 8 * len(counts)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
def test_leaving_early_leaves_nothing(tmp_path, error):
    with pytest.raises(error), SafetensorsWriter(tmp_path / "a.safetensors", 1000) as file:
        file.add("a", torch.ones(100_000))
        raise error
    assert not list(tmp_path.iterdir())


def test_a_file_of_that_name_stays_until_the_new_one_is_whole(tmp_path):
    path = write(tmp_path / "a.safetensors", {"a": torch.zeros(2)})
    with pytest.raises(Stopped), SafetensorsWriter(path, 1000) as file:
        file.add("a", torch.ones(2))
        raise Stopped
    assert load_file(path)["a"].equal(torch.zeros(2))
    write(path, {"a": torch.ones(2)})
    assert load_file(path)["a"].equal(torch.ones(2))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        write(tmp_path / "gone" / "a.safetensors", {"a": torch.ones(1)})


@pytest.mark.parametrize("what", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end(tmp_path, monkeypatch, what):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if what == "fsync" else (type(tmp_path), "replace")), fail)
    with pytest.raises(StorageError, match=r"a\.safetensors cannot be written: No space left on device"):
        write(tmp_path / "a.safetensors", {"a": torch.ones(1)})
    assert not list(tmp_path.iterdir())


FULL = """
import resource, sys, torch
from pathlib import Path
from mezzotint.checkpoints.write import SafetensorsWriter
from mezzotint.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    with SafetensorsWriter(Path(sys.argv[1]), 20_000) as file:
        for number in range(200):
            file.add(str(number), torch.ones(int(sys.argv[3])))
except StorageError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files are limited so on POSIX systems")
@pytest.mark.slow_after(1)
@pytest.mark.parametrize("numbers", [3, 10_000])
def test_a_disk_that_fills_half_way(tmp_path, numbers):
    """Whether it is noticed while a tensor is written, or when what was held back is."""
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.safetensors"), str(20_000 + 400 * numbers), str(numbers)]
    here = {**os.environ, "PYTHONPATH": str(Path(mezzotint.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=here, timeout=200)
    assert "a.safetensors cannot be written: File too large" in done.stdout, done.stderr
    assert not done.stderr
    assert not list(tmp_path.iterdir())


def test_bytes_of_a_whole_file_are_read_by_the_library(tmp_path):
    tensors = {
        "a": torch.arange(6, dtype=torch.float32).reshape(2, 3).T,
        "scalar": torch.tensor(3),
        "mask": torch.tensor([True, False, True]),
        "half": torch.ones(0, 2, dtype=torch.bfloat16),
    }
    path = tmp_path / "a.safetensors"
    path.write_bytes(serialized(tensors, {"said": '{"step": 1}'}))
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"said": '{"step": 1}'} and set(file.keys()) == set(tensors)
        for name, tensor in tensors.items():
            assert torch.equal(file.get_tensor(name), tensor) and file.get_tensor(name).dtype == tensor.dtype

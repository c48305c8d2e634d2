"""Files that torch.save wrote are read as torch reads them, and nothing in them is run."""

import io
import re
import zipfile

import pytest
import torch

from mezzotint.checkpoints.pickle_opcodes import InertObject, PickledTensor
from mezzotint.checkpoints.pickled_tensors import read_pickled
from mezzotint.errors import ModelRefused

LIMIT = 2**20


def saved(path, content, *, zipped=True):
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return path


def rezipped(path, change):
    """The archive with its entries changed: by name, to other bytes."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in change(entries).items():
            archive.writestr(name, data)
    return path


def with_entry(end, data):
    return lambda entries: {name: data if name.endswith(end) else old for name, old in entries.items()}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.arange(6.0).reshape(2, 3).T,
        torch.arange(8, dtype=torch.float16)[2:5],
        torch.ones(3, dtype=torch.bfloat16),
        torch.ones(2, dtype=torch.float64),
        torch.arange(3),
        torch.zeros(0, 4),
        torch.tensor(2.5),
    ],
    ids=range(8),
)
def test_tensors_are_those_that_were_saved(tmp_path, tensor, zipped):
    found = read_pickled(saved(tmp_path / "x.pt", {"a": tensor, "b": [tensor, 5]}, zipped=zipped), LIMIT)
    assert isinstance(found.content, dict) and isinstance(found.content["a"], PickledTensor)
    read = found.tensor(found.content["a"])
    assert read.dtype == tensor.dtype and torch.equal(read, tensor)
    assert found.content["b"] == [found.content["a"], 5]


@pytest.mark.parametrize("zipped", [True, False])
def test_modules_are_inert_and_their_parameters_are_found(tmp_path, zipped):
    parameters = torch.nn.ParameterDict({"*": torch.full((2, 4), 0.5)})
    found = read_pickled(saved(tmp_path / "x.pt", {"params": parameters}, zipped=zipped), LIMIT)
    assert isinstance(found.content, dict)
    inert = found.content["params"]
    assert isinstance(inert, InertObject) and inert.name.endswith("ParameterDict")
    held = inert.state["_parameters"]
    assert isinstance(held, dict) and torch.equal(found.tensor(held["*"]), parameters["*"])


def test_what_is_not_tensors_is_refused_by_name(tmp_path):
    path = tmp_path / "x.pt"

    def refused(words):
        with pytest.raises(
            ModelRefused, match=rf"x\.pt: not a file of plain tensors.*{words}.*the safetensors version"
        ):
            read_pickled(path, LIMIT)

    def saved_with(end, data):
        rezipped(saved(path, {"a": torch.zeros(4)}), with_entry(end, data))

    saved_with("data.pkl", b"\x80\x02cposix\nsystem\nX\x02\0\0\0idR.")
    refused(r"it names posix\.system, which is no tensor")
    saved_with("data/0", bytes(15))
    refused("incomplete: it ends before its tensors do")
    saved_with("data.pkl", bytes(2**19 * 2 + 1))
    refused("unpacks to more|list of tensors is too long")
    saved_with("byteorder", b"big")
    refused("big-endian")
    rezipped(saved(path, {}), lambda entries: {"other": b"x"})
    refused("a zip archive without tensors")
    saved_with("version", bytes(LIMIT + 1))
    refused("unpacks to more than such a file has")
    for text in (b"", b"\x80\x02K\x05.", b"hello", b"\x80"):
        path.write_bytes(text)
        refused("")


def test_a_list_of_tensors_that_is_too_long_is_not_interpreted(tmp_path):
    path = rezipped(saved(tmp_path / "x.pt", {"a": torch.zeros(4)}), with_entry("data.pkl", bytes(2**22 + 1)))
    with pytest.raises(ModelRefused, match="its list of tensors is too long"):
        read_pickled(path, 2 * 2**24)
    with pytest.raises(ModelRefused, match="larger than the 100 bytes"):
        read_pickled(path, 100)


def test_the_older_form_is_checked_too(tmp_path):
    path = saved(tmp_path / "x.pt", {"a": torch.zeros(4)}, zipped=False)
    whole = path.read_bytes()
    assert b"little_endian" in whole
    for change, words in (
        (whole[:-3], "it ends before its tensors do"),
        (re.sub(rb"(little_endianq.)\x88", b"\\1\x89", whole), "big-endian"),
        (b"\x80\x02K\x01." + whole, "a pickle that torch did not write"),
    ):
        assert change != whole
        path.write_bytes(change)
        with pytest.raises(ModelRefused, match=words):
            read_pickled(path, LIMIT)


def test_keys_that_are_no_list_leave_no_storages(tmp_path):
    path = saved(tmp_path / "x.pt", {"a": 1}, zipped=False)
    stream = io.BytesIO(path.read_bytes())
    head = stream.getvalue().removesuffix(b"\x80\x02]q\x00.")
    assert head != stream.getvalue()
    path.write_bytes(head + b"\x80\x02N.")
    assert read_pickled(path, LIMIT).content == {"a": 1}

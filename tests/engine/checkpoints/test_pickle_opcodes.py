"""Opcodes give plain values and tensors, or an error: nothing is imported, called, or takes forever."""

import contextlib
import io
import pickletools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.checkpoints import pickle_opcodes
from mezzotint.checkpoints.pickle_opcodes import InertObject, PickledTensor, StorageRef, interpret

STORAGE = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n("


def value(opcodes):
    return interpret(io.BytesIO(opcodes))[0]


@pytest.mark.parametrize(
    ("opcodes", "expected"),
    [
        (b"\x80\x02}q\0(X\x01\0\0\0aK\x05X\x01\0\0\0bG?\xe0\0\0\0\0\0\0u.", {"a": 5, "b": 0.5}),
        (b"}X\x01\0\0\0a\x88s.", {"a": True}),
        (b"]q\1(NK\1K\2eN\x89a.".replace(b"N\x89a", b"\x89a"), [None, 1, 2, False]),
        (b"\x80\4]\x94h\0\x86.", ([], [])),
        (b"K\1p5\nK\2\x86g5\n\x86.", ((1, 2), 1)),
        (b"K\1\x85.", (1,)),
        (b"K\1K\2K\3\x87.", (1, 2, 3)),
        (b"ccollections\nOrderedDict\n)R.", {}),
        (b"ccollections\nOrderedDict\n]]X\1\0\0\0aaK\1aa\x85R.", {"a": 1}),
        (b"ccollections\nOrderedDict\nK\1\x85R.", {}),
        (b"\x80\4\x8c\x05numpy\x8c\x05dtype\x93)R.", InertObject(name="numpy dtype")),
        (b"cnumpy\ndtype\n)\x81}X\1\0\0\0aK\1sb.", InertObject(name="numpy dtype", state={"a": 1})),
        (b"cnumpy\ndtype\n)RK\3b.", InertObject(name="numpy dtype")),
        (b"K\3)\x81.", InertObject(name="")),
        (b"(X\6\0\0\0modulecnumpy\ndtype\nNNtQ.", InertObject(name="numpy dtype")),
        (b"c__builtin__\nset\n]\x85R.", InertObject(name="__builtin__ set")),
    ],
)  # fmt: skip
def test_values(opcodes, expected):
    assert value(opcodes) == expected


def test_tensors_are_views_into_storages():
    found, storages = interpret(io.BytesIO(TENSOR + STORAGE + b"K\1K\3\x85K\1\x85\x89NtR."))
    ref = StorageRef(dtype="F32", key="0", count=4)
    assert found == PickledTensor(storage=ref, offset=1, shape=(3,), stride=(1,)) and storages == {"0": ref}
    assert value(b"ctorch._utils\n_rebuild_parameter\n" + b"K\x07\x89N\x87R.") == 7


@pytest.mark.parametrize(
    ("opcodes", "reason"),
    [
        (b"cbuiltins\neval\nX\1\0\0\x001\x85R.", r"it names builtins\.eval"),
        (b"\x80\4\x8c\2os\x8c\6system\x93.", r"it names os\.system"),
        (b"ctorchvision\nx\n.", "which is no tensor"),
        (b"K\1K\2a.", "what is no list"),
        (b"K\1(K\2e.", "what is no list"),
        (b"K\1K\1K\2s.", "what is no dictionary"),
        (b"}K\1K\2\x86K\1s.", "a key that is neither"),
        (b"K\1)R.", "what is no function"),
        (b"cnumpy\ndtype\nK\1R.", "what is no function"),
        (b"\x80\4\x8f.", "it has the opcode EMPTY_SET"),
        (b"K\1Q.", "no storage of numbers"),
        (STORAGE.replace(b"FloatStorage", b"ByteStorage!") + b".", "a storage of the kind torch ByteStorage!"),
        (STORAGE.replace(b"X\1\0\0\x000", b"K\0") + b".", "a storage of the kind"),
        (TENSOR + b"NK\1K\3\x85K\1\x85tR.", "a tensor without numbers"),
        (TENSOR + STORAGE + b"J\xff\xff\xff\xffK\3\x85K\1\x85tR.", "a tensor without numbers"),
        (TENSOR + STORAGE + b"K\2K\3\x85K\1\x85tR.", "larger than its storage"),
        (TENSOR + STORAGE + b"K\0K\1K\1\x86K\1\x85tR.", "impossible shape"),
        (TENSOR + STORAGE + b"K\0J\xff\xff\xff\xff\x85K\1\x85tR.", "impossible shape"),
        (TENSOR + STORAGE + b"K\0K\1K\1tR.", "impossible shape"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(opcodes, reason):
    with pytest.raises(ValueError, match=reason):
        value(opcodes)


def test_a_tensor_without_numbers_needs_no_room():
    found = value(TENSOR + STORAGE + b"K\0K\0\x85K\1\x85tR.")
    assert isinstance(found, PickledTensor) and found.shape == (0,)


def test_only_so_many_opcodes_are_read(monkeypatch):
    monkeypatch.setattr(pickle_opcodes, "MOST_OPCODES", 5)
    with pytest.raises(ValueError, match="more values than"):
        value(b"]" + b"K\1a" * 5 + b".")


@given(st.lists(st.sampled_from([one.code.encode("latin-1") for one in pickletools.opcodes]), max_size=60), st.binary())
def test_noise_gives_a_value_or_an_ordinary_error(opcodes, rest):
    errors = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError)
    with contextlib.suppress(*errors):
        value(b"".join(opcodes) + rest)

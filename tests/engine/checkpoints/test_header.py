"""Headers: what the library reads we read alike; what is broken is refused by name, and nothing else can happen."""

import os
import struct
import tracemalloc

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import HOSTILE_HEADERS, entry, raw, small
from safetensors import safe_open
from safetensors.numpy import save

from mezzotint.checkpoints import header
from mezzotint.checkpoints.header import MAX_HEADER, Header, TensorSpec, read_header
from mezzotint.errors import ModelRefused, StorageError

DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "I64": "int64",
    "U64": "uint64",
    "F64": "float64",
}


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_each_broken_file_is_refused_by_name(tmp_path, name):
    data, message = HOSTILE_HEADERS[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelRefused, match=message) as caught:
        read_header(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).isprintable()


def test_a_proper_file_is_read(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(small({"a": [2, 3], "b": [], "c": [0]}, {"format": "pt"}))
    found = read_header(path)
    start = path.stat().st_size - 28
    assert found == Header(
        path=path,
        tensors={
            "a": TensorSpec(dtype="F32", shape=(2, 3), start=start, end=start + 24),
            "b": TensorSpec(dtype="F32", shape=(), start=start + 24, end=start + 28),
            "c": TensorSpec(dtype="F32", shape=(0,), start=start + 28, end=start + 28),
        },
        metadata={"format": "pt"},
        bytes=start + 28,
    )


def test_tensors_come_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw({"late": entry(8, 12), "none": entry(8, 8), "early": entry(0, 8)}, bytes(12)))
    assert list(read_header(path).tensors) == ["early", "none", "late"]


def test_a_header_may_be_padded_with_spaces(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw(b'{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}   ', bytes(1)))
    assert read_header(path).tensors["a"].dtype == "F4"


def test_a_header_whose_size_looks_like_a_pickle_is_read(tmp_path):
    path = tmp_path / "model.safetensors"
    header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'.ljust(0x0280)
    path.write_bytes(raw(header, bytes(1)))
    assert path.read_bytes().startswith(b"\x80\x02")
    assert list(read_header(path).tensors) == ["a"]


@pytest.mark.parametrize(
    "written",
    {
        "a workflow and all tags of a dataset": {"__metadata__": {"workflow": "x" * 2**21}, "a": entry(0, 4)},
        "no metadata": {"__metadata__": None, "a": entry(0, 4)},
        "more in an entry": {"a": entry(0, 4) | {"comment": [{"by": None}]}},
        "many sides": {"a": entry(0, 4, [1] * 12)},
        "long and empty names": {"a" * 3000: entry(0, 4), "": entry(4, 8)},
        "names that are not printable": {"<cat\u200dtoy>\n": entry(0, 4), "\U0001f600": entry(4, 8)},
        "many tensors": {str(number): entry(0, 0) for number in range(60_000)},
        "white space first": b' \n{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    }.values(),
    ids=lambda written: "",
)
def test_what_the_library_accepts_is_read(tmp_path, written):
    path = tmp_path / "model.safetensors"
    entries = written.values() if isinstance(written, dict) else ()
    length = max((one["data_offsets"][1] for one in entries if one and "data_offsets" in one), default=1)
    path.write_bytes(raw(written, bytes(length)))
    found = read_header(path)
    with safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(found.tensors)
        assert (file.metadata() or {}) == found.metadata


def test_only_so_many_tensors_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(header, "MAX_TENSORS", 2)
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw({str(number): entry(0, 0) for number in range(3)}))
    with pytest.raises(ModelRefused, match="3 tensors; at most 2 are read"):
        read_header(path)


def test_a_bloated_header_takes_no_memory(tmp_path):
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", 150 * 10**6) + b"{")
        file.truncate(160 * 10**6)
    tracemalloc.start()
    with pytest.raises(ModelRefused, match=r"a header of 143.1 MB"):
        read_header(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_a_large_header_of_escapes_is_refused_in_linear_time(tmp_path):
    # Quadratic in a careless search for strings: it would take hours.
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw(b"{" + b'"\\' * (MAX_HEADER // 12 - 1)))
    with pytest.raises(ModelRefused, match="not proper JSON"):
        read_header(path)


def test_a_missing_file_is_a_matter_of_storage(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        read_header(tmp_path / "none.safetensors")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ModelRefused, match="is a folder"):
        read_header(tmp_path)


@st.composite
def arrays(draw):
    dtype = draw(st.sampled_from(sorted(DTYPES)))
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    return numpy.zeros(shape, DTYPES[dtype])


names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20).filter(
    lambda name: name.isprintable() and name != "__metadata__"
)


@given(tensors=st.dictionaries(names, arrays(), min_size=1, max_size=6), metadata=st.dictionaries(names, st.text()))
def test_what_the_library_writes_is_read_as_the_library_reads_it(tmp_path_factory, tensors, metadata):
    path = tmp_path_factory.mktemp("parity") / "model.safetensors"
    path.write_bytes(save(tensors, metadata or None))
    header = read_header(path)
    with safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(header.tensors)
        assert (file.metadata() or {}) == header.metadata
        for name, spec in header.tensors.items():
            part = file.get_slice(name)
            assert (part.get_dtype(), tuple(part.get_shape())) == (spec.dtype, spec.shape)
    whole = path.read_bytes()
    for name, spec in header.tensors.items():
        assert whole[spec.start : spec.end] == tensors[name].tobytes()


VALID = small({"a.weight": [2, 3], "b": [], "c": [0, 5], "d.bias": [7]}, {"format": "pt", "title": "x"})
mutations = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "delete", "cut", "repeat"]),
        st.integers(0, len(VALID) - 1),
        st.one_of(st.integers(0, 255), st.sampled_from(list(b'{}[]":,-0129.eE\\'))),
    ),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, changes) -> bytes:
    for kind, place, value in changes:
        head, tail = data[:place], data[place:]
        data = {
            "set": head + bytes([value]) + tail[1:],
            "insert": head + bytes([value]) + tail,
            "delete": head + tail[1:],
            "cut": head,
            "repeat": head + tail[: value % 40] + tail,
        }[kind]
    return data


@given(changes=mutations, keep_length=st.booleans())
def test_a_changed_file_is_read_or_refused_and_nothing_else(tmp_path_factory, changes, keep_length):
    path = tmp_path_factory.mktemp("mutated") / "model.safetensors"
    # Without the size in front, so that the changes reach the parser behind it.
    body = mutated(VALID[8:], changes)
    size = VALID[:8] if keep_length else struct.pack("<Q", max(2, body.rfind(b"}") + 1))
    path.write_bytes(size + body)
    assert_sound_or_refused(path)


@given(changes=mutations)
def test_so_is_one_changed_in_its_size(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("mutated") / "model.safetensors"
    path.write_bytes(mutated(VALID, changes))
    assert_sound_or_refused(path)


@given(data=st.binary(max_size=700))
def test_so_is_noise(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("noise") / "model.safetensors"
    path.write_bytes(data)
    assert_sound_or_refused(path)


def assert_sound_or_refused(path):
    try:
        header = read_header(path)
    except (ModelRefused, StorageError) as error:
        assert str(error).isprintable()
        return
    # Whatever we let through, the library reads too.
    with safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(header.tensors)
    assert max(spec.end for spec in header.tensors.values()) == header.bytes == path.stat().st_size


# ---- what is remembered


def write_old(path, shapes):
    path.write_bytes(small(shapes))
    os.utime(path, ns=(0, 10**18))


def test_a_file_that_stays_as_it_is_is_read_once(tmp_path):
    path = tmp_path / "model.safetensors"
    write_old(path, {"a": [2, 3]})
    assert read_header(path) is read_header(path)


@pytest.mark.parametrize("in_place", [True, False])
def test_another_file_of_the_same_size_and_time_is_read(tmp_path, in_place):
    path = tmp_path / "model.safetensors"
    write_old(path, {"a": [2, 3]})
    assert read_header(path).tensors["a"].shape == (2, 3)
    changed = path.stat().st_ctime_ns
    if not in_place:
        path.rename(tmp_path / "before")
    write_old(path, {"a": [3, 2]})
    while path.stat().st_ctime_ns == changed:  # systems count this time in thousandths of a second
        write_old(path, {"a": [3, 2]})
    assert read_header(path).tensors["a"].shape == (3, 2)


def test_a_file_that_was_written_just_now_is_read_again(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(small({"a": [2, 3]}))
    assert read_header(path) is not read_header(path)


def test_a_file_that_is_broken_stays_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    write_old(path, {"a": [2, 3]})
    read_header(path)
    path.write_bytes(path.read_bytes()[:-1])
    for _ in range(2):
        with pytest.raises(ModelRefused, match="incomplete"):
            read_header(path)


def test_only_so_much_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(header, "_MOST_REMEMBERED", 2 * 1500)
    paths = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for path in paths:
        write_old(path, {"a": [2, 3]})
    first, _, last = (read_header(path) for path in paths)
    assert read_header(paths[2]) is last
    assert read_header(paths[0]) is not first


def test_a_disk_that_fails_is_told(tmp_path, failing_disk):
    (tmp_path / "model.safetensors").write_bytes(small())
    with pytest.raises(StorageError, match=r"model\.safetensors cannot be read: Input/output error"):
        read_header(tmp_path / "model.safetensors")


def test_a_file_that_becomes_shorter_is_refused(tmp_path, shrinking_files):
    (tmp_path / "model.safetensors").write_bytes(small({"a": [0]}))
    with pytest.raises(ModelRefused, match="became shorter while it was read"):
        read_header(tmp_path / "model.safetensors")

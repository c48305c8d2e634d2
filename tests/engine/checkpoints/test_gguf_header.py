"""GGUF headers are what the gguf package wrote; whatever else a file says is refused, in one line, within its size."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

from mezzotint.checkpoints.gguf_header import MAX_HEADER, MAX_NAME, MAX_VALUE, TYPES, read_gguf_header, read_gguf_lists
from mezzotint.errors import ModelRefused, StorageError

skip_module_without("gguf")

U32, U64, TEXT, LIST, I32 = 4, 10, 8, 9, 5
F32, Q8_0 = 0, 8


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, data):
    return text(name) + struct.pack("<I", kind) + data


def entry(name, sides=(2,), kind=F32, offset=0):
    return text(name) + struct.pack(f"<I{len(sides)}QIQ", len(sides), *sides, kind, offset)


def gguf(*entries, keys=(), data=b"\0" * 64, count=None, magic=b"GGUF", version=3, key_count=None, alignment=32):
    counts = (len(entries) if count is None else count, len(keys) if key_count is None else key_count)
    header = magic + struct.pack("<IQQ", version, *counts) + b"".join(keys) + b"".join(entries)
    return header + b"\0" * (-len(header) % alignment) + data


def written(folder, data):
    path = folder / "model.gguf"
    path.write_bytes(data)
    return path


@pytest.fixture
def real(tmp_path):
    """A file of the gguf package's own writer."""
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    writer = GGUFWriter(tmp_path / "real.gguf", "sdxl")
    writer.add_uint32("general.quantization_version", 2)
    writer.add_float32("some.number", 0.5)
    writer.add_bool("some.truth", val=True)
    writer.add_array("words", ["a", "bc", "déf"] * 40)
    writer.add_array("numbers", list(range(50)))
    writer.add_array("comfy.gguf.orig_shape.conv.weight", [8, 4, 4, 4])
    weight = np.arange(8 * 64, dtype=np.float32).reshape(8, 64)
    writer.add_tensor("conv.weight", quantize(weight.reshape(2, 256), GGMLQuantizationType.Q8_0), raw_dtype=Q8_0)
    writer.add_tensor("to_q.weight", weight)
    writer.add_tensor("to_k.weight", weight.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "real.gguf"


def test_lists_are_read_in_full_where_they_are_asked_for(real):
    assert read_gguf_lists(real, ("words", "numbers", "others"), 120) == {
        "words": ["a", "bc", "déf"] * 40,
        "numbers": list(range(50)),
    }
    with pytest.raises(ModelRefused, match="a list of 120 elements in its header; at most 119 are read"):
        read_gguf_lists(real, ("words",), 119)
    with pytest.raises(ModelRefused, match="a single value where its header should have a list"):
        read_gguf_lists(real, ("some.number",), 119)
    with pytest.raises(StorageError):
        read_gguf_lists(real.with_name("none.gguf"), ("words",), 119)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (struct.pack("<IQ", TEXT, 99) + text("a"), "ends inside its header"),
        (struct.pack("<IQ", TEXT, 1) + text(b"\xff"), "not UTF-8"),
        (struct.pack("<IQ", I32, 99), "ends inside its header"),
        (struct.pack("<IQ", 77, 1), "the unknown type 77"),
        (struct.pack("<IQ", LIST, 1), "the unknown type 9"),
    ],
)
def test_damaged_lists_are_refused(tmp_path, value, message):
    path = written(tmp_path, gguf(keys=(key("words", LIST, value),), data=b""))
    with pytest.raises(ModelRefused, match=message):
        read_gguf_lists(path, ("words",), 1000)


def test_it_is_what_the_package_itself_reads(real):
    from gguf import GGUFReader

    header, theirs = read_gguf_header(real), GGUFReader(real)
    assert header.bytes == real.stat().st_size and header.architecture == "sdxl"
    assert list(header.tensors) == [tensor.name for tensor in theirs.tensors]
    for tensor in theirs.tensors:
        ours = header.tensors[tensor.name]
        assert ours.type == tensor.tensor_type.name
        assert (ours.start, ours.end) == (tensor.data_offset, tensor.data_offset + tensor.n_bytes)
        if tensor.name != "conv.weight":
            assert ours.shape == tuple(reversed(tensor.shape.tolist()))


def test_a_convolution_has_the_shape_that_it_had_first(real):
    assert read_gguf_header(real).tensors["conv.weight"].shape == (8, 4, 4, 4)


def test_long_lists_and_texts_are_left_out(real):
    metadata = read_gguf_header(real).metadata
    assert metadata["some.number"] == 0.5 and metadata["some.truth"] == 1
    assert metadata["comfy.gguf.orig_shape.conv.weight"] == (8, 4, 4, 4)
    assert not {"words", "numbers"} & metadata.keys()


def test_sizes_of_blocks_are_the_packages():
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    for number, (name, block, block_bytes) in TYPES.items():
        assert GGMLQuantizationType[name] == number
        assert GGML_QUANT_SIZES[GGMLQuantizationType[name]] == (block, block_bytes)


def test_a_plain_file(tmp_path):
    path = written(tmp_path, gguf(entry("a"), entry("b", (4, 3), offset=32), data=b"\0" * 96))
    tensors = read_gguf_header(path).tensors
    assert {name: (each.type, each.shape, each.end - each.start) for name, each in tensors.items()} == {
        "a": ("F32", (2,), 8),
        "b": ("F32", (3, 4), 48),
    }


def test_another_alignment(tmp_path):
    keys = [key("general.alignment", U32, struct.pack("<I", 128))]
    path = written(tmp_path, gguf(entry("a"), entry("b", offset=128), keys=keys, data=b"\0" * 136, alignment=128))
    first, second = read_gguf_header(path).tensors.values()
    assert first.start % 128 == 0 and second.start == first.start + 128


LONG = 2**63
HOSTILE = {
    "empty": (b"", "ends inside its header"),
    "another magic": (gguf(entry("a"), magic=b"GGML"), "not a GGUF file"),
    "version 1": (gguf(entry("a"), version=1), "GGUF version 1"),
    "version 4": (gguf(entry("a"), version=4), "GGUF version 4"),
    "big-endian": (gguf(entry("a"), version=3 << 24), "big-endian"),
    "no tensors": (gguf(), "holds no tensors"),
    "too many tensors": (gguf(entry("a"), count=LONG), "9223372036854775808 tensors and 0 keys"),
    "too many keys": (gguf(entry("a"), key_count=10_001), "10001 keys"),
    "fewer tensors than said": (gguf(entry("a"), count=40_000), "the name '' is empty"),
    "a long name": (gguf(entry("a" * (MAX_NAME + 1))), "a name of 1001 bytes"),
    "a name without end": (gguf(struct.pack("<Q", LONG) + b"a"), "a name of 9223372036854775808 bytes"),
    "a name of control characters": (gguf(entry("a\x1b[2J")), "or has control characters"),
    "a name that is no text": (gguf(entry(b"\xff\xfe")), "not UTF-8"),
    "two of one name": (gguf(entry("a"), entry("a", offset=32)), "'a' appears twice"),
    "two keys of one name": (gguf(entry("a"), keys=[key("k", U32, b"\0" * 4)] * 2), "'k' appears twice"),
    "five dimensions": (gguf(entry("a", (1,) * 5)), "has 5 dimensions"),
    "dimensions without end": (gguf(text("a") + struct.pack("<I", 2**31)), "has 2147483648 dimensions"),
    "an empty side": (gguf(entry("a", (0,))), r"impossible shape \[0\] for F32"),
    "half a block": (gguf(entry("a", (48,), Q8_0)), r"impossible shape \[48\] for Q8_0"),
    "a huge tensor": (gguf(entry("a", (2**62, 2**62))), "incomplete: 0.0 of"),
    "a crooked offset": (gguf(entry("a", offset=8)), "impossible offset 8"),
    "an offset beyond the file": (gguf(entry("a", offset=2**40)), "incomplete"),
    "tensors over each other": (gguf(entry("a", (64,)), entry("b", offset=32), data=b"\0" * 256), "overlaps"),
    "truncated": (gguf(entry("a", (64,))), "incomplete: 96 of 352|incomplete: .* bytes"),
    "IQ4_NL": (gguf(entry("a", (32,), 20)), "'a' has the type IQ4_NL; supported are F32, F16, Q4_0"),
    "IQ4_XS": (gguf(entry("a", (256,), 23)), "has the type IQ4_XS"),
    "an unknown type": (gguf(entry("a", (32,), 999)), "has the type 999"),
    "an unknown kind of value": (gguf(entry("a"), keys=[key("k", 77, b"")]), "unknown type 77"),
    "a list of lists": (gguf(entry("a"), keys=[key("k", LIST, struct.pack("<IQ", LIST, 1))]), "unknown type 9"),
    "a list without end": (gguf(entry("a"), keys=[key("k", LIST, struct.pack("<IQ", U32, LONG))]), "ends inside"),
    "words without end": (gguf(entry("a"), keys=[key("k", LIST, struct.pack("<IQ", TEXT, LONG))]), "ends inside"),
    "a word without end": (gguf(entry("a"), keys=[key("k", TEXT, struct.pack("<Q", LONG))]), "ends inside"),
    "alignment 0": (
        gguf(entry("a"), keys=[key("general.alignment", U32, struct.pack("<I", 0))]),
        "impossible alignment 0",
    ),
    "alignment 48": (
        gguf(entry("a"), keys=[key("general.alignment", U32, struct.pack("<I", 48))]),
        "impossible alignment 48",
    ),
    "alignment 2**62": (
        gguf(entry("a"), keys=[key("general.alignment", U64, struct.pack("<Q", 2**62))]),
        "impossible alignment 46",
    ),
    "alignment in words": (gguf(entry("a"), keys=[key("general.alignment", TEXT, text("32"))]), "alignment 32"),
    "another number of numbers first": (
        gguf(entry("a"), keys=[key("comfy.gguf.orig_shape.a", LIST, struct.pack("<IQ3i", I32, 3, 1, 3, 1))]),
        r"'a' cannot have the original shape \(1, 3, 1\)",
    ),
    "negative sides first": (
        gguf(entry("a"), keys=[key("comfy.gguf.orig_shape.a", LIST, struct.pack("<IQ2i", I32, 2, -1, -2))]),
        r"the original shape \(-1, -2\)",
    ),
    "part of a model": (gguf(entry("a"), keys=[key("split.count", 2, struct.pack("<H", 3))]), "one shard of a model"),
}


@pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_is_refused(tmp_path, data, why):
    path = written(tmp_path, data)
    with pytest.raises(ModelRefused, match=why) as refusal:
        read_gguf_header(path)
    message = str(refusal.value)
    assert message.startswith(str(path)) and message.isprintable() and len(message) < 500


def test_wherever_it_is_cut_it_is_refused(real, tmp_path):
    whole = real.read_bytes()
    header = read_gguf_header(real)
    start = next(iter(header.tensors.values())).start
    for length in [*range(0, start + 1, 7), len(whole) - 1]:
        with pytest.raises(ModelRefused):
            read_gguf_header(written(tmp_path, whole[:length]))


@given(st.data())
def test_whatever_is_changed_it_is_read_or_refused(tmp_path_factory, data):
    whole = bytearray(
        gguf(
            entry("a", (4, 2)),
            entry("b", (32,), Q8_0, 32),
            keys=[
                key("general.architecture", TEXT, text("sdxl")),
                key("comfy.gguf.orig_shape.a", LIST, struct.pack("<IQ2i", I32, 2, 4, 2)),
            ],
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, len(whole) - 65))] = data.draw(st.integers(0, 255))
    path = written(tmp_path_factory.mktemp("gguf"), bytes(whole))
    try:
        header = read_gguf_header(path)
    except ModelRefused:
        return
    assert all(tensor.end <= header.bytes for tensor in header.tensors.values())


def test_a_header_beyond_all_measure_is_refused_unread(tmp_path):
    path = tmp_path / "model.gguf"
    with path.open("wb") as file:
        file.write(gguf(keys=[key("k", TEXT, struct.pack("<Q", MAX_HEADER))], data=b"", count=1))
        file.truncate(2 * MAX_HEADER)  # a file with a hole, which takes no room
    with pytest.raises(ModelRefused, match=r"a header larger than 64\.0 MB"):
        read_gguf_header(path)


def test_what_is_no_file(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        read_gguf_header(tmp_path / "missing.gguf")
    with pytest.raises(ModelRefused, match="is a folder"):
        read_gguf_header(tmp_path)


def test_a_disk_that_fails_is_told(tmp_path, failing_disk):
    with pytest.raises(StorageError, match=r"model\.gguf cannot be read: Input/output error"):
        read_gguf_header(written(tmp_path, gguf(entry("a"))))
    with pytest.raises(StorageError, match=r"model\.gguf cannot be read: Input/output error"):
        read_gguf_lists(tmp_path / "model.gguf", ("words",), 1000)


def test_a_file_that_becomes_shorter_is_refused(tmp_path, shrinking_files):
    with pytest.raises(ModelRefused, match="ends inside its header; download it again"):
        read_gguf_header(written(tmp_path, gguf(entry("a"))))


def test_a_text_that_is_too_long_to_be_kept_is_passed_over(tmp_path):
    keys = [key("long", TEXT, text("x" * (MAX_VALUE + 1))), key("general.architecture", TEXT, text("sdxl"))]
    header = read_gguf_header(written(tmp_path, gguf(entry("a"), keys=keys)))
    assert header.metadata.get("long") is None and header.architecture == "sdxl"

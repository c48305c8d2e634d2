"""Caption files and metadata lines: what they state, and what is wrong with them."""

import io
import os

import pytest

from mezzotint.errors import MezzotintError, ModelRefused, StorageError
from mezzotint.training.dataset import caption_files
from mezzotint.training.dataset.caption_files import MetadataLine, read_caption_file, read_metadata


@pytest.fixture
def text_file(tmp_path):
    def write(data):
        path = tmp_path / "a.txt"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize(
    ("data", "captions"),
    [
        (b"a castle", ("a castle",)),
        (b"a castle\r\n\r\n  a tower \n", ("a castle", "a tower")),
        (b"\xef\xbb\xbfa castle\n", ("a castle",)),
        ("ein Schloß, 城".encode(), ("ein Schloß, 城",)),
        (b"a\tred\x00\x1b[31m   castle", ("a red[31m castle",)),
        (b"\n \r\n", ()),
        (b"", ()),
    ],
)
def test_each_line_is_a_caption(text_file, data, captions):
    assert read_caption_file(text_file(data)) == captions


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"Schlo\xdf", "at byte 5 .0xdf is invalid there."),
        (b"\xef\xbb\xbfab\xff", "at byte 5 .0xff is invalid there."),
        ("a castle".encode("utf-16"), "at byte 0 .it seems to be UTF-16."),
    ],
)
def test_another_encoding_is_named_with_its_place(text_file, data, words):
    with pytest.raises(StorageError, match=f"a.txt is not UTF-8 text {words}: save it as UTF-8"):
        read_caption_file(text_file(data))


def test_a_file_that_is_too_large_for_a_caption(text_file):
    with pytest.raises(ModelRefused, match="a.txt is larger than the 65536 bytes that such a file may have"):
        read_caption_file(text_file(b"a" * 65_537))


def test_metadata_lines(text_file):
    path = text_file(
        b'\xef\xbb\xbf{"file_name": "a.png", "text": "a castle", "more": 1}\n\n{"file_name": "b", "text": ["x", " "]}'
    )
    assert list(read_metadata(path)) == [
        MetadataLine(number=1, file_name="a.png", captions=("a castle",)),
        MetadataLine(number=3, file_name="b", captions=("x",)),
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "a.txt, line 2: not proper JSON"),
        (b"[1]", "a.txt, line 2: JSON, but not an object"),
        (b'{"text": "a"}', "a.txt, line 2: there is no file_name"),
        (b'{"file_name": 3, "text": "a"}', "a.txt, line 2: there is no file_name"),
        (b'{"file_name": "a.png"}', "a.txt, line 2: text is None; it must be the caption"),
        (b'{"file_name": "a.png", "text": ["a", 2]}', "a.txt, line 2: text is .'a', 2.; it must be"),
        (b'{"file_name": "\xff"}', "a.txt is not UTF-8 text at byte 18"),
        (b"[" * 9000, "a.txt, line 2: not proper JSON: brackets that are nested too deeply"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(text_file, line, words):
    path = text_file(b"\n".join([b"  ", line, b'{"file_name": "a.png", "text": "a"}']))
    error, good = read_metadata(path)
    assert isinstance(error, MezzotintError)
    with pytest.raises(MezzotintError, match=words):
        raise error
    assert good.captions == ("a",)


def test_endless_lines_are_not_read(text_file, monkeypatch):
    monkeypatch.setattr(caption_files, "MAX_METADATA_LINE", 100)
    lines = read_metadata(text_file(b'{"file_name": "a.png", "text": "a"}\n' + b"a" * 101))
    assert next(lines).number == 1
    with pytest.raises(StorageError, match="line 2: longer than 100 bytes"):
        next(lines)


def test_a_disk_that_fails(text_file, monkeypatch):
    class Failing(io.BytesIO):
        def readline(self, *size):
            raise OSError(5, os.strerror(5))

    monkeypatch.setattr(caption_files, "open_regular", lambda path: Failing())
    with pytest.raises(StorageError, match="a.txt cannot be read: Input/output error"):
        list(read_metadata(text_file(b"")))

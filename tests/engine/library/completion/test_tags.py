"""Tag files of A1111's tag completion, which come from anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.library.completion import tags
from mezzotint.library.completion.tags import Tag, matching, read_tags

WRITTEN = """\
1girl,0,5000,"1girls,sole_female"
blue_eyes,0,900,"blueeyes"
dark_blue_sky,0,700,
sky,0,600,"blue_heaven"
odd_(thing),0,x,
only
"""


def names(found):
    return [tag.name for tag, _ in found]


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text(WRITTEN)
    return read_tags(path)


def test_beginnings_then_aliases_then_the_rest(written):
    assert len(written) == 6 and written[0] == Tag("1girl", 5000, ",1girls,sole_female,")
    assert names(matching(written, "Blue", 9)) == ["blue_eyes", "sky", "dark_blue_sky"]
    assert matching(written, "sole f", 9) == ((written[0], "sole_female"),)
    assert names(matching(written, "blue", 2)) == ["blue_eyes", "sky"]
    assert matching(written, " ", 9) == matching(written, "nothing", 9) == ()


def test_what_is_no_tag_is_left_out(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_bytes(b"\xef\xbb\xbfa,0,1\n\n," + b"x" * 300 + b"\n\x1b[31m,0,1\nlong,0,99999999999999999999,\xff\n")
    assert read_tags(path) == (Tag("a", 1, ""), Tag("long", 0, ",\ufffd,"))


def test_files_that_cannot_be_used_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="the tag file cannot be used: .* is a folder"):
        read_tags(tmp_path)
    path = tmp_path / "tags.csv"
    path.write_text("\n,\n")
    with pytest.raises(UsageError, match="has no tags"):
        read_tags(path)
    path.write_text('a,0,1,"' + "x" * 200_000)
    with pytest.raises(UsageError, match="not a CSV file of tags, line"):
        read_tags(path)
    path.write_text(WRITTEN)
    monkeypatch.setattr(tags, "MAX_TAGS", 2)
    assert len(read_tags(path)) == 2
    monkeypatch.setattr(tags, "MAX_FILE_BYTES", 20)
    with pytest.raises(UsageError, match="cannot be used"):
        read_tags(path)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    try:
        found = read_tags(path)
    except UsageError:
        return
    assert all(tag.name and tag.count >= 0 for tag in found)

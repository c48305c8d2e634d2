import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.checkpoints.strict_json import MAX_DEPTH, parse_json_object, read_json_object
from mezzotint.errors import ModelRefused

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=st.dictionaries(st.text(), values, max_size=5), ascii_only=st.booleans())
def test_what_json_writes_is_read_back(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_json_object(text.encode("utf-8", "surrogatepass"), "x") == value


@given(data=st.binary(max_size=300) | st.text('{}[]",:\\0e- \n', max_size=300).map(str.encode))
def test_anything_is_an_object_or_refused(data):
    try:
        assert isinstance(parse_json_object(data, "x"), dict)
    except ModelRefused as error:
        assert str(error).isprintable()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", "not an object"),
        (b'{"a":1,"a":2}', "'a' appears twice"),
        (b'{"a":NaN}', "NaN is not a JSON number"),
        (b'{"a":-1e400}', "too large a number"),
        (b"\xef\xbb\xbf{}", "not proper JSON"),
        (b"", "not proper JSON"),
        ('{"a":"\ud800"}'.encode("utf-8", "surrogatepass"), "not proper JSON"),
        ('{"a":1}'.encode("utf-16"), "not proper JSON"),
    ],
)
def test_the_careless_forms_are_refused(data, message):
    with pytest.raises(ModelRefused, match=message):
        parse_json_object(data, "x")


def test_infinity_is_what_diffusers_writes_for_no_bound():
    assert parse_json_object(b'{"lambda_min_clipped": -Infinity}', "x") == {"lambda_min_clipped": -math.inf}


def nested(depth):
    return b'{"a":' + b"[" * (depth - 1) + b'"]]{{\\"["' + b"]" * (depth - 1) + b"}"


def test_depth_is_bounded_whatever_the_recursion_limit(monkeypatch):
    assert parse_json_object(nested(MAX_DEPTH), "x")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with pytest.raises(ModelRefused, match="nested too deeply"):
            parse_json_object(nested(10**6), "x")
    finally:
        sys.setrecursionlimit(limit)


def test_brackets_in_text_do_not_count():
    text = {"a": "[{" * 1000 + '\\"' * 100}
    assert parse_json_object(json.dumps(text).encode(), "x") == text


def test_files_are_bounded(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": 1}')
    assert read_json_object(path, 8) == {"a": 1}
    with pytest.raises(ModelRefused, match="larger than the 7 bytes"):
        read_json_object(path, 7)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
def test_a_file_may_begin_with_a_byte_order_mark(tmp_path, encoding):
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    (tmp_path / "x.json").write_bytes((mark + '{"né": "日"}').encode(encoding))
    assert read_json_object(tmp_path / "x.json", 100) == {"né": "日"}


def test_more_values_than_expected_are_refused_before_they_take_memory():
    text = b'{"a": [1, 2, "x,y:z"], "b": 3}'
    assert parse_json_object(text, "x", most_values=5) == {"a": [1, 2, "x,y:z"], "b": 3}
    with pytest.raises(ModelRefused, match="x: not proper JSON: more than 4 values"):
        parse_json_object(text, "x", most_values=4)

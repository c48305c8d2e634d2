"""What makers say of their files is found in every format, and nothing in it can do harm."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mezzotint.library.cards.found import MOST_SIDECAR, with_found
from mezzotint.library.cards.words import line, paragraph, words
from mezzotint.library_protocol import MOST_CARD_TEXT, MOST_CARD_WORDS, ModelCard

CIVITAI = {
    "name": "v2",
    "baseModel": "SDXL 1.0",
    "trainedWords": ["inkwash", "ink, wash"],
    "description": "<p>One &amp; two</p><script>x</script>",
    "model": {"name": "Ink wash", "tags": ["style", "ink", "ink"]},
}
A1111 = {"description": "For brushes", "sd version": "SD1", "activation text": "brush, dry", "preferred weight": 0.7}
MANAGER = {"model_name": "Fog", "base_model": "Pony", "tags": ["mood"], "civitai": {"trainedWords": ["foggy"]}}
RECORD = {"name": "Sun", "tags": ["light"], "modelVersions": [{"baseModel": "Flux.1 D", "trainedWords": ["sunny"]}]}

MATRIX = {
    "ModelName": "Rain",
    "UserTitle": None,
    "BaseModel": "SDXL 1.0",
    "TrainedWords": ["rainy", "wet"],
    "Tags": ["weather"],
    "Hashes": {"SHA256": "0"},
}


def card(tmp_path, metadata=None, **beside):
    path = tmp_path / "x.safetensors"
    for suffix, data in beside.items():
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        (tmp_path / f"x.{suffix.replace('_', '.')}").write_bytes(content)
    return with_found(ModelCard(path=str(path), name="x"), path, metadata or {})


@pytest.mark.parametrize(
    ("suffix", "data", "expected"),
    [
        ("civitai_info", CIVITAI, ("Ink wash", "SDXL 1.0", ("style", "ink"), ("inkwash", "ink, wash"), None)),
        ("json", A1111, ("", "SD1", (), ("brush", "dry"), 0.7)),
        ("metadata_json", MANAGER, ("Fog", "Pony", ("mood",), ("foggy",), None)),
        ("json", A1111 | {"sd version": "Unknown"}, ("", "", (), ("brush", "dry"), 0.7)),
        ("json", RECORD, ("Sun", "Flux.1 D", ("light",), ("sunny",), None)),
        ("cm-info_json", MATRIX, ("Rain", "SDXL 1.0", ("weather",), ("rainy", "wet"), None)),
        ("cm-info_json", MATRIX | {"UserTitle": "Mine"}, ("Mine", "SDXL 1.0", ("weather",), ("rainy", "wet"), None)),
        ("civitai_info", b"\xef\xbb\xbf" + json.dumps({"name": "marked"}).encode(), ("marked", "", (), (), None)),
        ("json", json.dumps({"model_name": "wide"}).encode("utf-16"), ("wide", "", (), (), None)),
    ],
)
def test_each_kind_of_file_beside_it_is_read(tmp_path, suffix, data, expected):
    found = card(tmp_path, **{suffix: data})
    assert (found.title, found.base, found.tags, found.trigger_words, found.weight) == expected


def test_files_beside_it_precede_metadata_and_pages_become_text(tmp_path):
    metadata = {"modelspec.title": "Other", "modelspec.description": "not this", "ss_base_model_version": "sdxl_base"}
    found = card(tmp_path, metadata, civitai_info=CIVITAI)
    assert (found.title, found.base, found.description) == ("Ink wash", "SDXL 1.0", "One & two\nx")
    found = card(tmp_path / "..", metadata | {"modelspec.trigger_phrase": "a castle"})
    assert (found.title, found.base, found.trigger_words) == ("Other", "sdxl_base", ("a castle",))


def test_the_tags_of_nearly_all_images_stand_in_for_trigger_words(tmp_path):
    counts = {"10_zibble": {"zibble": 20, "grass": 3, "night": 19}, "5_more": {"zibble": 5, "bad": "x", "none": -3}}
    assert card(tmp_path, {"ss_tag_frequency": json.dumps(counts)}).trigger_words == ("zibble",)


def test_the_picture_beside_it_is_found(tmp_path):
    assert card(tmp_path).picture is None
    (tmp_path / "x.png").write_bytes(b"")
    assert card(tmp_path).picture == str(tmp_path / "x.png")
    (tmp_path / "x.preview.webp").write_bytes(b"")
    assert card(tmp_path).picture == str(tmp_path / "x.preview.webp")


@pytest.mark.parametrize(
    "data",
    [b"", b"[1]", b"{", b'{"a": NaN}', b"[" * 10**5, b'{"x": "' + b"y" * (MOST_SIDECAR + 1), b"\xff", b'{"a":1,"a":2}'],
    ids=range(8),
)
def test_a_damaged_file_says_nothing(tmp_path, data):
    assert card(tmp_path, {"modelspec.title": "t"}, civitai_info=data).title == "t"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(
    [
        "name",
        "model",
        "tags",
        "trainedWords",
        "civitai",
        "modelVersions",
        "baseModel",
        "description",
        "preferred weight",
    ]
)


@settings(max_examples=60)
@given(st.dictionaries(names, json_values), st.text(max_size=50))
def test_any_values_give_a_card_of_bounded_printable_text(tmp_path_factory, data, tags):
    found = card(tmp_path_factory.mktemp("any"), {"ss_tag_frequency": tags, "modelspec.tags": tags}, civitai_info=data)
    for text in (found.title, found.base, *found.tags, *found.trigger_words):
        assert text.isprintable() and len(text) <= 200
    assert len(found.description) <= MOST_CARD_TEXT


def test_texts_are_bounded():
    assert len(words([str(number) for number in range(10**4)])) == MOST_CARD_WORDS
    assert len(line("x" * 10**6)) == 200
    assert len(paragraph("y" * 10**6)) == MOST_CARD_TEXT
    assert (line(3), paragraph(None), words({"a": 1})) == ("", "", ())

"""The bundled CLIP tokenizer, against ids known from elsewhere and a byte-pair encoding written from its definition."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.tokenizers import END, END_ID, START, START_ID, clip_merges, clip_tokenizer, clip_vocabulary


@pytest.fixture(scope="module")
def first():
    return clip_tokenizer(pad_token=END)


@pytest.fixture(scope="module")
def second():
    return clip_tokenizer(pad_token="!")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [49406, 49407]),
        ("a photo of a cat", [49406, 320, 1125, 539, 320, 2368, 49407]),
        ("A  Photo of\na CAT", [49406, 320, 1125, 539, 320, 2368, 49407]),
        ("hello world!", [49406, 3306, 1002, 256, 49407]),
    ],
)
def test_known_ids(first, text, ids):
    assert first(text).input_ids == ids


def test_the_vocabulary_is_whole():
    vocabulary = clip_vocabulary()
    assert sorted(vocabulary.values()) == list(range(49408))
    assert (vocabulary["!"], vocabulary["!</w>"], vocabulary[START], vocabulary[END]) == (0, 256, START_ID, END_ID)
    assert len(clip_merges()) == 48894
    assert clip_merges()[:2] == (("i", "n"), ("t", "h"))


def test_padding(first, second):
    options = {"padding": "max_length", "max_length": 77, "truncation": True}
    assert first("a cat", **options).input_ids == [49406, 320, 2368, 49407] + [49407] * 73
    assert second("a cat", **options).input_ids == [49406, 320, 2368, 49407] + [0] * 73
    assert first.model_max_length == second.model_max_length == 77
    assert first("cat " * 100, **options).input_ids == [49406] + [2368] * 75 + [49407]


def test_a_saved_tokenizer_is_the_same(second, tmp_path):
    from transformers import CLIPTokenizer

    second.save_pretrained(tmp_path)
    again = CLIPTokenizer.from_pretrained(tmp_path, local_files_only=True)
    text = "naïve café, 3 cats & it's 10:30!! 日本"
    assert again(text).input_ids == second(text).input_ids
    assert again.pad_token_id == 0


_RANKS = {pair: rank for rank, pair in enumerate(clip_merges())}
_IDS = clip_vocabulary()
_WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[a-z]+|[0-9]|[^\sa-z0-9]+")


def plain_ids(text: str) -> list[int]:
    """Byte-pair encoding by its definition, for ASCII: the pair of the lowest rank is joined until none is left."""
    result = []
    for word in _WORD.findall(text.lower()):
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            rank, at = min((_RANKS.get(pair, len(_RANKS)), i) for i, pair in enumerate(itertools.pairwise(parts)))
            if rank == len(_RANKS):
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        result += [_IDS[part] for part in parts]
    return result


@given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="<"), max_size=60))
def test_ids_are_those_of_the_definition(first, text):
    assert first(text, add_special_tokens=False).input_ids == plain_ids(text)


@given(words=st.lists(st.text("abcdefghijklmnopqrstuvwxyzäöüéß日本语", min_size=1, max_size=12), max_size=8))
def test_words_come_back(first, words):
    import unicodedata

    text = unicodedata.normalize("NFC", " ".join(words)).lower()
    assert first.decode(first(text, add_special_tokens=False).input_ids) == text

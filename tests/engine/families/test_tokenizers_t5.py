"""T5's bundled vocabulary: the ids that are published, those of sentencepiece, and the same without transformers."""

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from mezzotint.families import tokenizers
from mezzotint.families.family import ComponentSource
from mezzotint.families.loading.networks import _read_tokenizer
from mezzotint.library.tokenizer_files import read_tokenizer

SOURCE = ComponentSource(
    name="tokenizer_2", library="transformers", class_name="T5Tokenizer", config={}, folder=None, files=(), bytes=0
)
WORDS = st.sampled_from(["a red house", "Über", "café", "1234", "ﬁ ²", "日本", "😀", "don't", ",", "(x:1.2)", "½"])


@pytest.fixture(scope="module")
def whole():
    return _read_tokenizer(SOURCE)


@pytest.fixture(scope="module")
def alone():
    return read_tokenizer(SOURCE)


@pytest.fixture(scope="module")
def published():
    return SentencePieceProcessor(model_proto=lzma.decompress(tokenizers._T5_FILE.read_bytes()))


def test_ids_are_those_that_were_published(whole):
    assert len(tokenizers.t5_pieces()[0]) == 32_100
    assert whole("Studies have been shown that owning a dog is good for you").input_ids == [
        6536, 43, 118, 2008, 24, 293, 53, 3, 9, 1782, 19, 207, 21, 25, 1,
    ]  # fmt: skip
    assert whole.convert_tokens_to_ids(["<pad>", "</s>", "<unk>", "<extra_id_0>"]) == [0, 1, 2, 32_099]
    padded = whole([""], padding="max_length", max_length=4, truncation=True)
    assert padded.input_ids == [[1, 0, 0, 0]] and padded.attention_mask == [[1, 0, 0, 0]]


@given(text=st.lists(WORDS, max_size=12).map(" ".join))
def test_texts_are_read_as_sentencepiece_and_the_counter_read_them(whole, alone, published, text):
    ids = whole(text, add_special_tokens=False).input_ids
    assert ids == published.encode(text)
    assert ids == alone.encode(text, add_special_tokens=False).ids

"""The small CLIP tokenizers read any text, and end it as CLIP's do."""

import pytest

from mezzotint.families.tokenizers import END, START
from mezzotint_starter.xl.clip_vocabulary import CONTEXT, build_clip_tokenizers, learn_merges, tokenize_clip


@pytest.fixture(scope="module")
def pair():
    return build_clip_tokenizers(learn_merges(0, captions=1000))


def test_frequent_words_are_one_token(pair):
    assert pair[0].tokenize("A Red house") == ["a</w>", "red</w>", "house</w>"]


@pytest.mark.parametrize("text", ["zqx", "ü", "風景", "\u0007", "<pad>", "a  b"])
def test_no_text_is_unknown(pair, text):
    ids = pair[0](text).input_ids
    assert ids[0] == pair[0].bos_token_id
    assert ids[-1] == pair[0].eos_token_id
    assert pair[0].eos_token_id not in ids[1:-1]


def test_the_second_pads_with_another_token(pair):
    first, second = (tokenize_clip(tokenizer, ["a red house"], "cpu")[0] for tokenizer in pair)
    assert len(first) == len(second) == CONTEXT
    assert (first[:5] == second[:5]).all()
    assert set(first[5:].tolist()) == {pair[0].eos_token_id}
    assert set(second[5:].tolist()) == {0}


def test_the_end_has_the_highest_number_as_in_clip(pair):
    assert len(pair[0]) - 1 == pair[0].convert_tokens_to_ids(END) == pair[0].convert_tokens_to_ids(START) + 1


def test_long_texts_are_cut(pair):
    ids = tokenize_clip(pair[0], ["red " * 200], "cpu")[0]
    assert len(ids) == CONTEXT
    assert ids[-1] == pair[0].eos_token_id

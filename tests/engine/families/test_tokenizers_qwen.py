"""Qwen's bundled vocabulary: the ids that are published, and the same counted without transformers."""

import pytest

from mezzotint.families.tokenizers import qwen_tokenizer, qwen_vocabulary
from mezzotint.library.tokenizer_files import _bundled_qwen

TEXTS = [
    "<|im_start|>user\nHello world, it's 1234 <|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    "süß 你好 😀  two   spaces\n\n\tand a tab's end ",
    "",
]


def test_ids_are_those_that_were_published():
    vocabulary = qwen_vocabulary()
    assert len(vocabulary) == 151_644 and vocabulary["<|endoftext|>"] == 151_643
    assert [vocabulary[word] for word in ("Hello", "Ġworld", "assistant", "Ġhelpful")] == [9707, 1879, 77091, 10950]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("text", TEXTS)
def test_counted_as_the_engine_counts_it(text):
    whole = qwen_tokenizer()
    assert whole(text).input_ids == _bundled_qwen().encode(text, add_special_tokens=False).ids
    assert whole.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>", "<think>"]) == [151_644, 151_645, 151_667]

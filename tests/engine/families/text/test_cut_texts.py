"""What a text encoder does not read is told, with the text that was lost."""

from functools import partial
from types import SimpleNamespace

import pytest

from mezzotint.families.family import CutText
from mezzotint.families.text.cut_texts import cut_notices, noting_cuts
from mezzotint.families.tokenizers import clip_tokenizer, qwen_tokenizer, t5_tokenizer

TAIL = "<|im_end|>\n<|im_start|>assistant\n"


def model_with(**tokenizers):
    components = {"text_encoder": SimpleNamespace(class_name="CLIPTextModel")}
    return SimpleNamespace(tokenizers=dict(tokenizers), sources=SimpleNamespace(components=components))


def read(tokenizer, text, most, *, template="{prompt}"):
    """What is noted when a family reads a text in its template."""
    model, family = model_with(tokenizer=tokenizer), SimpleNamespace(spec=SimpleNamespace(template=template))
    with noting_cuts(family, model) as readings:
        options = {"max_length": most, "truncation": True, "padding": "max_length", "return_tensors": "pt"}
        model.tokenizers["tokenizer"]([template.format(prompt=text)], **options)
    assert model.tokenizers["tokenizer"] is tokenizer
    return readings.cut_texts()


@pytest.mark.parametrize("make", [partial(clip_tokenizer, pad_token="!"), t5_tokenizer], ids=["clip", "t5"])
def test_the_end_that_is_lost(make):
    words = [f"{word} " for word in ("red", "green", "blue", "tree", "house", "river")]
    tokenizer = make()
    fits = len(tokenizer("".join(words[:4]).strip()).input_ids)
    (cut,) = read(tokenizer, "".join(words).strip(), fits)
    assert (cut.limit, cut.tokens, cut.text) == (fits, 2, "house river")
    assert read(tokenizer, "".join(words[:4]).strip(), fits) == ()


def test_the_end_of_a_template_is_no_prompt():
    tokenizer, template = qwen_tokenizer(), "<|im_start|>user\n{prompt}" + TAIL
    around = len(tokenizer(template.format(prompt="")).input_ids)
    tail = len(tokenizer(TAIL).input_ids)
    (cut,) = read(tokenizer, "red green blue", around - tail + 1, template=template)
    assert (cut.tokens, cut.text) == (2, "green blue")
    assert read(tokenizer, "red green blue", around - tail + 3, template=template) == ()


def test_a_longer_encoder_that_reads_it_all_is_named():
    model = model_with(tokenizer=clip_tokenizer(pad_token="!"), tokenizer_2=t5_tokenizer())
    with noting_cuts(SimpleNamespace(), model) as readings:
        for name, most in (("tokenizer", 5), ("tokenizer_2", 50)):
            model.tokenizers[name]("red green blue tree", max_length=most, truncation=True)
            model.tokenizers[name].padding_side = "right"
            model.tokenizers[name]("never cut " * 20)
    (line,) = cut_notices(readings.cut_texts(), "a prompt")
    assert line == (
        "a prompt is longer than the 5 tokens that CLIPTextModel reads: 1 token was cut, from 'tree' on; "
        "text_encoder_2 reads it to the end"
    )


def test_the_text_is_shortened_and_shown_as_plain_text():
    (line,) = cut_notices([CutText(encoder="T5", limit=9, tokens=300, text="a\x1b[31m " * 200)], "a caption")
    assert line.startswith("a caption is longer than the 9 tokens that T5 reads: 300 tokens were cut, from 'a")
    assert "\x1b" not in line and len(line) < 250

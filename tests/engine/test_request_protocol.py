"""Requests: values that are words of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import LoraRef
from mezzotint.request_protocol import LoraFile

lora = LoraFile().parse


@pytest.mark.parametrize(
    ("words", "path", "weight"),
    [
        ("ink.safetensors:0.8", "ink.safetensors", 0.8),
        ("ink.safetensors:-0.5", "ink.safetensors", -0.5),
        ("ink.safetensors", "ink.safetensors", 1.0),
        (r"C:\loras\ink.safetensors", r"C:\loras\ink.safetensors", 1.0),
        (r"C:\loras\ink.safetensors:.25", r"C:\loras\ink.safetensors", 0.25),
        ("a:b/ink.safetensors:2", "a:b/ink.safetensors", 2.0),
        ("ink", "ink", 1.0),
    ],
)
def test_a_lora_is_a_file_and_perhaps_a_weight(words, path, weight):
    assert lora(words) == LoraRef(path=path, weight=weight)


@given(st.from_regex(r"[a-z/]{1,10}\.safetensors", fullmatch=True), st.floats(-100, 100))
def test_every_weight_is_read(path, weight):
    assert lora(f"{path}:{weight!r}") == LoraRef(path=path, weight=weight)


@pytest.mark.parametrize("weight", ["", "x", "nan", "inf", "1e999", "0,8"])
def test_no_weights_are_refused_with_an_example(weight):
    with pytest.raises(ValueError, match=r"is not a weight; .* style\.safetensors:0\.8"):
        lora(f"ink.safetensors:{weight}")


@given(st.from_regex(r"[a-z/]{1,10}\.safetensors", fullmatch=True), st.floats(-100, 100))
def test_a_lora_is_read_as_it_is_written(path, weight):
    kind, ref = LoraFile(), LoraRef(path=path, weight=weight)
    assert kind.read(kind.to_setting(ref)) == ref
    assert [kind.parse(word) for word in kind.to_arguments(ref)] == [ref]

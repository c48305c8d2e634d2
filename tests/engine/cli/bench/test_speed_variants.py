"""Variants that trade fidelity for speed."""

import argparse

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.bench.speed_variants import refusal, values_of, variants
from mezzotint.options import Options
from mezzotint.protocol import ModelRef


def test_several_are_read_each_once():
    found = variants("tokens=todo, step-cache=0.1,tokens=todo,deep-shrink=2:0.5")
    assert found == ("tokens=todo", "step-cache=0.1", "deep-shrink=2:0.5")
    (sparse,) = variants("sparse-attention=window:0.5")
    assert values_of(sparse) == {"sparse_attention": ("window", 0.5)}
    read = [values_of(each) for each in found]
    assert read == [{"tokens": ("todo", 0.75)}, {"step_cache": 0.1}, {"deep_shrink": (2.0, 0.5)}]


def test_attention_is_one():
    assert [values_of(each) for each in variants("attention=int8,attention=int8-all")] == [
        {"attention": "int8"},
        {"attention": "int8-all"},
    ]


@pytest.mark.parametrize(
    "words",
    ["", "todo", "attention=int4", "steps=3", "tokens=tome", "step-cache=2", "tokens=todo,", "sparse-attention=swin"],
)
def test_others_are_refused(words):
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        variants(words)


def test_what_a_model_cannot_have():
    catalog = Catalog.standard()
    dit, xl = (catalog.find(ModelRef(id=name)) for name in ("starter-dit", "starter-xl"))
    assert refusal(dit, Options(step_cache=0.1)) == refusal(xl, Options(step_cache=0.1)) == ""
    assert refusal(xl, Options(deep_shrink=(2.0, 0.35))) == ""
    assert refusal(xl, Options(sparse_attention=("pooled", 0.5))) == ""
    assert "too small" in refusal(xl, Options(deep_shrink=(4.0, 0.35), size=(64, 64)))

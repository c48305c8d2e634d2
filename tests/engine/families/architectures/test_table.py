"""The architecture table: known kinds are read, everything else is refused by name."""

import pytest

from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import Architecture, read_architecture, stated


def test_what_is_left_out_is_as_in_pixart():
    assert read_architecture({}) == Architecture(trunk="sequential")
    assert read_architecture({"trunk": "reversible"}) == Architecture(trunk="reversible")


def test_a_table_states_what_differs_from_pixart():
    changed = Architecture(norm="rms", depth="looped")
    assert stated(changed) == {"norm": "rms", "depth": "looped"}
    assert read_architecture(stated(changed)) == changed
    assert stated(Architecture()) == {}


@pytest.mark.parametrize(
    "table",
    [
        {"trunk": "reversible", "skips": "long"},
        {"trunk": "reversible", "pyramid": "merge"},
        {"trunk": "reversible", "tokens": "pooled"},
        {"trunk": "reversible", "tokens": "selected"},
        {"trunk": "reversible", "depth": "early_exit"},
        {"pyramid": "merge", "tokens": "pooled"},
        {"feed_forward": "mbconv", "tokens": "selected"},
        {"skips": "long", "depth": "early_exit"},
    ],
)
def test_kinds_that_exclude_each_other_are_refused_by_name(table):
    with pytest.raises(ModelRefused, match="exclude each other: ") as error:
        read_architecture({"norm": "rms"} | table)
    assert all(f"architecture.{name} {kind}" in str(error.value) for name, kind in table.items())


def test_what_is_as_in_pixart_is_not_stated():
    assert stated(Architecture()) == {}
    assert stated(Architecture(trunk="reversible", attention="lsh")) == {"trunk": "reversible", "attention": "lsh"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"trunk": "spiral"}, "architecture.trunk is spiral; it can be sequential or reversible"),
        (
            {"attention": "nearest"},
            "architecture.attention is nearest; it can be dense, local, dilated, strided, block_sparse, longformer, "
            "bigbird, lsh, routing, efficient, linear, performer, rfa, relu or linformer",
        ),
        ({"trunk": 1}, "architecture.trunk is 1"),
        ({"trunk": ["reversible"]}, "architecture.trunk is "),
        (
            {"feed_forward": "mlps"},
            "it can be mlp, gated, mixffn, resnet, depthwise, group_shuffle, spatial, bottleneck or",
        ),
        ({"norm": "group"}, "architecture.norm is group; it can be layer or rms"),
        ({"modulation": "none"}, "it can be shared or zero"),
        ({"skips": "short"}, "it can be none or long"),
        ({"pyramid": "pool"}, "it can be none or merge"),
        ({"tokens": "some"}, "it can be all, pooled or selected"),
        ({"depth": "deep"}, "it can be unique, shared, looped or early_exit"),
        ({"condition": "text"}, "it can be none, concat or cross"),
        ({"branch": "reversible"}, "architecture.branch is not known; known are trunk"),
        ("reversible", "the architecture is reversible, not a table"),
        (None, "the architecture is None, not a table"),
    ],
)
def test_unknown_kinds_are_refused(value, message):
    with pytest.raises(ModelRefused, match=message):
        read_architecture(value)

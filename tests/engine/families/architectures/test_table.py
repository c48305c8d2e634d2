"""The architecture table: known kinds are read, everything else is refused by name."""

import pytest

from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import Architecture, read_architecture


def test_what_is_left_out_is_as_in_pixart():
    assert read_architecture({}) == Architecture(trunk="sequential")
    assert read_architecture({"trunk": "reversible"}) == Architecture(trunk="reversible")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"trunk": "spiral"}, "architecture.trunk is spiral; it can be sequential or reversible"),
        ({"trunk": 1}, "architecture.trunk is 1"),
        ({"trunk": ["reversible"]}, "architecture.trunk is "),
        ({"branch": "reversible"}, "architecture.branch is not known; known are trunk"),
        ("reversible", "the architecture is reversible, not a table"),
        (None, "the architecture is None, not a table"),
    ],
)
def test_unknown_kinds_are_refused(value, message):
    with pytest.raises(ModelRefused, match=message):
        read_architecture(value)

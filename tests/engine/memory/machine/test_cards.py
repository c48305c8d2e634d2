"""Cards by name: those of the table, however they are written."""

import pytest

from mezzotint.memory.machine.cards import CARDS, known_card
from mezzotint.memory.machine.speeds import of_architecture, speed_of

GB = 2**30


@pytest.mark.parametrize(
    ("words", "name", "gigabytes"),
    [
        ("RTX 4090", "RTX 4090", 24),
        ("NVIDIA GeForce RTX 3060", "RTX 3060", 12),
        ("rtx3060", "RTX 3060", 12),
        ("an rtx 3060", None, 0),
        ("a RTX-4070 Ti Super card", "RTX 4070 Ti Super", 16),
        ("rtx 4060 ti 16GB", "RTX 4060 Ti", 16),
        ("A100 40 GB", "A100", 40),
        ("AMD Radeon RX 7900 XTX", "RX 7900 XTX", 24),
        ("Intel Arc A770", "Arc A770", 16),
        ("NVIDIA GeForce RTX 4070 Laptop GPU", "RTX 4070 Laptop", 8),
        ("RTX 3080 Mobile 16GB", "RTX 3080 Laptop", 16),
        ("RTX 9999", None, 0),
        ("8 GB", None, 0),
        ("8 GB card", None, 0),
        ("RTX 4090 99999GB", None, 0),
        ("", None, 0),
    ],
)
def test_names(words, name, gigabytes):
    found = known_card(words)
    assert (None if found is None else (found.name, found.vram_bytes)) == (name and (name, gigabytes * GB))


def test_every_card_is_found_by_its_name_and_its_generation_is_known():
    assert [known_card(card.name) for card in CARDS] == list(CARDS)
    assert all(
        of_architecture(card.architecture) != of_architecture("") for card in CARDS if card.architecture != "sm_86"
    )


def test_larger_cards_of_a_generation_are_faster():
    speeds = {card.name: speed_of(of_architecture(card.architecture), card.processors) for card in CARDS}
    assert speeds["RTX 3060"] < speeds["RTX 3090"] < speeds["RTX 4090"] < speeds["RTX 5090"] < speeds["H100"]

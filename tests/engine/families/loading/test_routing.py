"""Tensors in files of a folder go where today's libraries have them, whichever version named them."""

from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from mezzotint.families.loading.original_names import Placement
from mezzotint.families.loading.routing import route


@pytest.mark.parametrize(
    ("stored", "today"),
    [
        ("encoder.embed_tokens.weight", "shared.weight"),
        ("shared.weight", "shared.weight"),
        ("text_model.embeddings.weight", "embeddings.weight"),
        ("up.query.weight", "up.to_q.weight"),
    ],
)
def test_older_names_are_known(tmp_path, stored, today):
    save_file({stored: torch.zeros(1), "unused": torch.zeros(1)}, tmp_path / "model.safetensors")
    part = SimpleNamespace(files=(tmp_path / "model.safetensors",), replaced=False, original=None)
    sources = SimpleNamespace(components={"part": part}, checkpoint=None)
    names = {"part": ["shared.weight", "encoder.embed_tokens.weight", "embeddings.weight", "up.to_q.weight"]}
    placed = (Placement(component="part", name=today, form="whole"),)
    assert route(sources, ["part"], names) == {stored: placed}

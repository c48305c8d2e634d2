"""A delta file is checked against its trunk by the headers alone, and whatever does not fit is refused."""

import json
import shutil

import pytest
import torch
from delta_files import NAME, proper_metadata, trunk_tensors, write_proper, write_trunk, written

from mezzotint.checkpoints.delta.layout import TAKEN, TRUNK, open_delta, trunks_of
from mezzotint.checkpoints.header import read_header
from mezzotint.errors import ModelRefused


def opened(path):
    return open_delta(read_header(path))


def test_the_header_is_that_of_whole_tensors(tmp_path):
    path = write_proper(tmp_path, metadata={"title": "a house"})
    delta = opened(path)
    assert {name: (spec.dtype, spec.shape) for name, spec in delta.header.tensors.items()} == {
        "own": ("F32", (3,)),
        "coded": ("F16", (5, 2, 3)),
        "x.weight": ("F16", (6, 4)),
        "b.weight": ("F32", (6, 4, 1, 1)),
        "c.bias": ("BF16", (6,)),
    }
    assert {name: spec.end - spec.start for name, spec in delta.header.tensors.items()} == {
        "own": 12,
        "coded": 60,
        "x.weight": 48,
        "b.weight": 96,
        "c.bias": 12,
    }
    assert delta.header.metadata == {"title": "a house"} and delta.header.bytes == path.stat().st_size
    assert trunks_of(path) == [tmp_path.resolve() / "dit" / NAME]
    assert trunks_of(write_trunk(tmp_path)) == []


def test_an_own_tensor_may_be_called_a_scale(tmp_path):
    path = write_proper(tmp_path, {"norm.scale": torch.ones(2)})
    assert opened(path).header.tensors["norm.scale"].shape == (2,)


WRONG = {
    "no list": ({}, {TAKEN: None}, "lists the tensors"),
    "no trunk": ({}, {TRUNK: None}, "names where 3 tensors are"),
    "no JSON": ({}, {TAKEN: "["}, "not proper JSON"),
    "an object": ({}, {TAKEN: "{}"}, "not a list"),
    "a number": ({}, {TAKEN: "[7]"}, "has 7"),
    "no name": ({}, {TAKEN: '["=a.weight"]'}, "OWN=TRUNK"),
    "no name there": ({}, {TAKEN: '["a="]'}, "OWN=TRUNK"),
    "two names there": ({}, {TAKEN: '["a=b=c"]'}, "OWN=TRUNK"),
    "twice": ({}, {TAKEN: '["b.weight", "b.weight=a.weight"]'}, "taken twice"),
    "own too": ({}, {TAKEN: '["own=c.bias"]'}, "in the file too"),
    "unknown": ({}, {TAKEN: '["x.weight=z.weight"]'}, "'z.weight' is not in the trunk"),
    "integers": ({}, {TAKEN: '["d"]'}, "of the trunk is I32"),
    "elsewhere": ({}, {TRUNK: "../dit/transformer"}, "folder and a component"),
    "absent": ({}, {TRUNK: "pit/transformer"}, "is not there"),
    "own int32": ({"own": torch.ones(3, dtype=torch.int32)}, {}, "'own' is I32"),
    "one code": ({"coded": torch.tensor(1, dtype=torch.int8)}, {}, "int8 by rows"),
    "no scale": ({"coded.scale": None}, {}, "'coded.scale' is missing"),
    "half scale": ({"coded.scale": torch.ones(5).half()}, {}, "'coded.scale' is F16"),
    "short scale": ({"coded.scale": torch.ones(4)}, {}, "of shape \\(4,\\)"),
    "nothing to add to": ({}, {TAKEN: '["b.weight"]'}, "'x.weight' is not taken"),
    "added to its own": ({f"own.{each}": torch.ones(1) for each in ("lora_A", "lora_B")}, {}, "'own' is not taken"),
    "half a product": ({"x.weight.lora_A": None}, {}, "lacks one of"),
    "no rank": ({"x.weight.lora_scale": torch.ones(())}, {}, "rank 0"),
    "high rank": ({"x.weight.lora_scale": torch.ones(1025)}, {}, "rank 1025"),
    "floats": ({"x.weight.lora_B": torch.ones(6, 2)}, {}, "lora_B' is F32"),
    "half scales": ({"x.weight.lora_scale": torch.ones(2).half()}, {}, "lora_scale' is F16"),
    "other ranks": ({"x.weight.lora_A": torch.ones(3, 4).char()}, {}, "lora_A' is I8 of shape \\(3, 4\\)"),
    "no sides": ({"x.weight.lora_A": torch.ones(()).char()}, {}, "lora_A' is I8 of shape \\(\\)"),
    "other shape": ({"x.weight.lora_A": torch.ones(2, 5).char()}, {}, "the product has shape \\(6, 5\\)"),
    "huge": (
        {"x.weight.lora_B": torch.ones(2**16, 1).char(), "x.weight.lora_A": torch.ones(1, 2**16).char()}
        | {"x.weight.lora_scale": torch.ones(1)},
        {},
        "the product has shape \\(65536, 65536\\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused(tmp_path, name):
    tensors, metadata, why = WRONG[name]
    path = write_proper(tmp_path, tensors, metadata)
    with pytest.raises(ModelRefused, match=why):
        opened(path)


def test_a_tensor_may_be_a_thousand_times_in_the_trunk_but_not_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint.checkpoints.delta.layout.MAX_TENSORS", 4)
    with pytest.raises(ModelRefused, match="5 tensors; at most 4"):
        opened(write_proper(tmp_path))


def test_the_trunk_is_one_file(tmp_path):
    path = write_proper(tmp_path)
    shutil.copyfile(tmp_path / "dit" / NAME, tmp_path / "dit" / "transformer" / "other.safetensors")
    with pytest.raises(ModelRefused, match="has 2 safetensors files"):
        opened(path)


def test_the_trunk_is_no_link_that_leads_elsewhere(tmp_path):
    path = write_proper(tmp_path / "models")
    (tmp_path / "models" / "dit").rename(tmp_path / "far")
    (tmp_path / "models" / "dit").symlink_to(tmp_path / "far", target_is_directory=True)
    with pytest.raises(ModelRefused, match="a link that leads elsewhere"):
        opened(path)
    (tmp_path / "models" / "dit").unlink()
    (tmp_path / "models" / "dit" / "transformer").mkdir(parents=True)
    (tmp_path / "models" / "dit" / NAME).symlink_to(tmp_path / "far" / NAME)
    with pytest.raises(ModelRefused, match="leads out of the model folder"):
        opened(path)


def test_a_trunk_may_have_a_trunk_but_no_more(tmp_path):
    write_proper(tmp_path)
    taken = {TAKEN: json.dumps(["own", "x.weight"])}
    second = written(tmp_path / "second" / NAME, {"z": torch.ones(1)}, {TRUNK: "fast/transformer"} | taken)
    third = written(tmp_path / "third" / NAME, {"z": torch.ones(1)}, {TRUNK: "second/transformer"} | taken)
    assert opened(second).header.tensors.keys() == {"z", "own", "x.weight"}
    assert trunks_of(second) == [tmp_path.resolve() / name / NAME for name in ("fast", "dit")]
    with pytest.raises(ModelRefused, match="more than 1 other delta file"):
        opened(third)


def test_no_file_builds_on_itself(tmp_path):
    path = written(tmp_path / "dit" / NAME, trunk_tensors(), proper_metadata())
    with pytest.raises(ModelRefused, match="or on itself"):
        opened(path)

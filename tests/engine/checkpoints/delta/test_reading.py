"""The tensors of a delta file are read whole, each under its own name."""

import json

import pytest
import torch
from delta_files import NAME, delta_tensors, trunk_tensors, write_proper, written

from mezzotint.checkpoints.delta.layout import TAKEN, TRUNK
from mezzotint.checkpoints.delta.reading import read_delta
from mezzotint.errors import Cancelled, ModelRefused


def read(path, names=None):
    done = []
    tensors = dict(read_delta(path, on_bytes=done.append, cancelled=lambda: False, names=names))
    assert done == [tensor.nbytes for tensor in tensors.values()]
    return tensors


def expected():
    own, trunk = delta_tensors(), trunk_tensors()
    up, scale, down = (own[f"x.weight.{each}"].double() for each in ("lora_B", "lora_scale", "lora_A"))
    return {
        "own": own["own"],
        "coded": (own["coded"].double() * own["coded.scale"].double()[:, None, None]).half(),
        "x.weight": (trunk["a.weight"].double() + up @ torch.diag(scale) @ down).half(),
        "b.weight": trunk["b.weight"],
        "c.bias": trunk["c.bias"],
    }


def test_all_tensors_are_read(tmp_path):
    found, wanted = read(write_proper(tmp_path)), expected()
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert found[name].dtype == tensor.dtype
        torch.testing.assert_close(found[name], tensor)
    assert not torch.allclose(found["x.weight"], trunk_tensors()["a.weight"])


@pytest.mark.parametrize("name", ["own", "coded", "x.weight", "b.weight"])
def test_one_tensor_is_read(tmp_path, name):
    (found,) = read(write_proper(tmp_path), {name}).items()
    assert found[0] == name and torch.equal(found[1], read(write_proper(tmp_path))[name])


def test_a_product_is_reshaped_and_a_tensor_taken_twice_is_two(tmp_path):
    parts = {f"b.weight.{each}": delta_tensors()[f"x.weight.{each}"] for each in ("lora_B", "lora_scale", "lora_A")}
    path = write_proper(tmp_path, parts, {TAKEN: '["x.weight=b.weight", "b.weight", "y.weight=b.weight"]'})
    found = read(path)
    assert torch.equal(found["b.weight"], found["x.weight"]) and found["b.weight"].shape == (6, 4, 1, 1)
    assert torch.equal(found["y.weight"], trunk_tensors()["b.weight"])
    found["y.weight"].zero_()
    assert found["x.weight"].any()


def test_what_a_trunk_has_from_its_own_trunk(tmp_path):
    first = read(write_proper(tmp_path))
    metadata = {TRUNK: "fast/transformer", TAKEN: json.dumps(["mine=x.weight", "coded", "c.bias"])}
    found = read(written(tmp_path / "second" / NAME, {"z": torch.ones(1)}, metadata))
    assert found.keys() == {"z", "mine", "coded", "c.bias"}
    for own, theirs in {"mine": "x.weight", "coded": "coded", "c.bias": "c.bias"}.items():
        assert torch.equal(found[own], first[theirs])


@pytest.mark.parametrize(
    "tensors",
    [
        {"own": torch.tensor([1.0, torch.nan])},
        {"coded.scale": torch.full((5,), 1e6)},
        {"x.weight.lora_scale": torch.full((2,), torch.inf)},
    ],
)
def test_numbers_that_are_not_finite_are_refused(tmp_path, tensors):
    with pytest.raises(ModelRefused, match="not finite"):
        read(write_proper(tmp_path, tensors))


@pytest.mark.parametrize("allowed", [0, 7])
def test_reading_can_be_cancelled(tmp_path, allowed):
    left = iter([False] * allowed)
    with pytest.raises(Cancelled):
        list(read_delta(write_proper(tmp_path), on_bytes=lambda _: None, cancelled=lambda: next(left, True)))

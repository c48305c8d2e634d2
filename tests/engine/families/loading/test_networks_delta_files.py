"""Networks of delta files: loaded, noticed when their trunk changes, shown and copied like others."""

import json
import os
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.model import Conversion, convert
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.loading.precision import parts_of
from mezzotint.families.loading.quantized_entry import QuantizedEntry
from mezzotint.quantization.policy import Choice
from mezzotint.stages.models.model_cache import _stamps

FILE = "transformer/diffusion_pytorch_model.safetensors"
QUERY = "transformer_blocks.0.attn1.to_q.weight"
BIAS = "transformer_blocks.0.attn1.to_q.bias"


@pytest.fixture
def fast(tiny_pixart_folder, tmp_path):
    """A model whose transformer is that of its neighbour with another bias, and a product added to one weight."""
    shutil.copytree(tiny_pixart_folder, tmp_path / "dit")
    shutil.copytree(tiny_pixart_folder, tmp_path / "fast")
    whole = load_file(tmp_path / "dit" / FILE)
    product = (torch.ones(whole[QUERY].shape[0], 1), torch.ones(1, whole[QUERY].shape[1]))
    own, taken = {BIAS: whole[BIAS] + 1}, {name: name for name in whole if name != BIAS}
    path = tmp_path / "fast" / FILE
    write_delta(path, trunk="dit/transformer", taken=taken, own=own, low_rank={QUERY: product})
    return tmp_path / "fast"


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def state(path, **more):
    model = LoadedModel(sources=sources_of(path), device=torch.device("cpu"), dtype=torch.float32, **more)
    done = []
    load_components(
        model,
        ["transformer"],
        on_bytes=lambda _, count: done.append(count),
        cancelled=lambda: False,
        notify=lambda _: None,
    )
    assert sum(done) == model.sources.components["transformer"].bytes
    assert not model.on_disk
    return model.networks["transformer"].state_dict()


@pytest.mark.parametrize("from_disk", [frozenset(), frozenset({"transformer"})], ids=["in memory", "from disk"])
def test_a_network_is_that_of_whole_weights(fast, from_disk):
    whole, found = state(fast.parent / "dit"), state(fast, from_disk=from_disk)
    assert found.keys() == whole.keys()
    added = {name: found[name] - tensor for name, tensor in whole.items() if not torch.equal(found[name], tensor)}
    assert added.keys() == {QUERY, BIAS}
    assert all((each - 1).abs().max() < 0.01 for each in added.values())


def test_a_changed_trunk_is_noticed(fast):
    sources = sources_of(fast)
    entry = QuantizedEntry(
        source=sources.components["transformer"],
        choice=Choice(scheme="int8"),
        layers={},
        device=torch.device("cpu"),
    )
    before = entry.key(), _stamps(sources)
    os.utime(fast.parent / "dit" / FILE, (1, 1))
    assert entry.key() != before[0] and _stamps(sources) != before[1]


def test_what_it_builds_on_is_shown(fast):
    assert {part.name: part.trunk for part in parts_of(sources_of(fast))} == {
        "transformer": "dit/transformer",
        "text_encoder": "",
        "vae": "",
    }


def test_a_quantized_copy_needs_no_trunk(fast, tmp_path):
    output = tmp_path / "far" / "away"
    output.parent.mkdir()
    convert(Conversion(sources=sources_of(fast), choices={"transformer": Choice(scheme="int8")}, output=output))
    whole = state(fast)
    for path in (fast, fast.parent / "dit"):
        shutil.rmtree(path)
    found = state(output)
    assert torch.equal(found[BIAS], whole[BIAS].half().float())
    assert json.loads((output / "mezzotint.json").read_text())["quantization"] == {"transformer": "int8"}


def test_shards_cannot_build_on_another_model(fast):
    folder, tensors = fast / "transformer", {"other": torch.ones(1)}
    save_file(tensors, folder / "b.safetensors")
    (fast / FILE).rename(folder / "a.safetensors")
    places = {QUERY: "a.safetensors", "other": "b.safetensors"}
    (folder / "diffusion_pytorch_model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with pytest.raises(ModelRefused, match="builds on another model; it must be one file"):
        state(fast)

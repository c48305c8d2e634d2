"""A pruning from its request to the folder, which diffusers reads, too."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import Cancelled, UsageError
from mezzotint.jobs.pruning import choosing
from mezzotint.jobs.pruning.run import SUFFIX, PruneRequest, PruningRun
from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import TrainingStep

WEIGHTS = Path("transformer") / "diffusion_pytorch_model.safetensors"
IDLE = "transformer_blocks.1"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model with four blocks, one of which changes nothing."""
    from diffusers import PixArtTransformer2DModel
    from tiny_pixart import write_tiny_pixart

    folder = write_tiny_pixart(tmp_path_factory.mktemp("models") / "deep")
    config = json.loads((folder / "transformer" / "config.json").read_text())
    torch.manual_seed(3)
    network = PixArtTransformer2DModel.from_config({**config, "num_layers": 4})
    network.save_pretrained(folder / "transformer")
    tensors = load_file(folder / WEIGHTS)
    for name in tensors:
        if name.startswith(f"{IDLE}.") and (".to_out." in name or ".ff.net.2." in name):
            tensors[name].zero_()
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    return folder


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Two images are enough to compare with."""
    monkeypatch.setattr(choosing, "_COMPARED", 2)


@pytest.fixture
def request_(model, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a red house\na blue boat\n")
    return PruneRequest(
        model=ModelRef(id=str(model)),
        prompts=prompts,
        output=tmp_path / "small",
        blocks=2,
        steps=3,
        images=2,
        rank=2,
        batch=4,
        resolution=64,
        rate=1e-3,
        device="cpu",
    )


def pruned(request, *, cancelled=lambda: False, on_event=lambda _: None):
    return PruningRun(request, Catalog.standard(), on_event, cancelled).run()


def test_an_idle_block_goes_first_and_the_copy_is_the_network_without_it(request_, model):
    from diffusers import PixArtTransformer2DModel

    result = pruned(replace(request_, blocks=1, steps=0))
    assert [each.name for each in result.removed] == [IDLE] and result.healed is None
    assert result.removed[0].distance < 1e-9 and result.parameters_left < result.parameters
    smaller = PixArtTransformer2DModel.from_pretrained(request_.output / "transformer")
    whole = PixArtTransformer2DModel.from_pretrained(model / "transformer")
    assert len(smaller.transformer_blocks) == len(whole.transformer_blocks) - 1
    del whole.transformer_blocks[1]
    assert whole.state_dict().keys() == smaller.state_dict().keys()
    assert all(torch.equal(each, smaller.state_dict()[name]) for name, each in whole.state_dict().items())
    found = Catalog.standard().at(request_.output)
    assert not found.problem
    assert json.loads((request_.output / "mezzotint.json").read_text())["pruned"]["blocks"] == [IDLE]


def test_it_heals_and_is_the_same_after_a_stop(request_, tmp_path):
    seen = []

    def stops():
        return len(seen) > 1

    with pytest.raises(Cancelled, match="step 2 of 3; the same command goes on"):
        pruned(request_, cancelled=stops, on_event=lambda e: seen.append(e) if isinstance(e, TrainingStep) else None)
    assert not request_.output.exists()
    with pytest.raises(UsageError, match="of another model or other settings"):
        pruned(replace(request_, blocks=1))
    resumed = pruned(request_)
    other = replace(request_, output=tmp_path / "other")
    whole = pruned(other)
    assert (request_.output / WEIGHTS).read_bytes() == (other.output / WEIGHTS).read_bytes()
    assert replace(resumed, output="", seconds=0) == replace(whole, output="", seconds=0)
    assert not request_.output.with_name(f"small{SUFFIX}").exists()
    with pytest.raises(UsageError, match="exists already"):
        pruned(request_)


@pytest.mark.slow
def test_healing_comes_nearer_to_the_original(request_):
    healed = pruned(replace(request_, steps=30, rank=8, rate=1e-2))
    assert healed.healed < 0.9 * healed.removed[-1].distance


def test_as_many_as_there_are_cannot_be_removed(request_):
    with pytest.raises(UsageError, match="--blocks is 4; .* 1 to 3 can be removed"):
        pruned(replace(request_, blocks=4))
    assert not request_.output.with_name(f"small{SUFFIX}").exists(), "nothing was begun"


def test_u_nets_and_quantized_models_are_refused(request_, tiny_sdxl_folder):
    with pytest.raises(UsageError, match="has a U-Net"):
        pruned(replace(request_, model=ModelRef(id=str(tiny_sdxl_folder))))

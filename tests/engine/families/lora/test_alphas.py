"""What diffusers and peft write about scaling, and what it cannot be."""

import json
from pathlib import Path

import pytest

from mezzotint.checkpoints.header import Header, TensorSpec
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.alphas import written_alphas, written_doras


def written(**entries):
    text = json.dumps({name.replace("__", "."): value for name, value in entries.items()})
    metadata = {"lora_adapter_metadata": text}
    return written_alphas(Header(path=Path("a.safetensors"), tensors={}, metadata=metadata, bytes=0))


def test_one_alpha_for_a_network_and_others_for_single_layers():
    alphas = written(
        unet__lora_alpha=8,
        unet__r=4,
        unet__alpha_pattern={"down_blocks.1.conv": 2, "conv": 16},
        text_encoder__lora_alpha=1,
    )
    assert set(alphas) == {"denoiser", "text_encoder"}
    assert alphas["denoiser"].scale("mid_block_attn", 4) == 2
    assert alphas["denoiser"].scale("down_blocks_1_conv", 4) == 0.5
    assert alphas["denoiser"].scale("up_blocks_1_conv", 4) == 4
    assert alphas["text_encoder"].scale("anything", 4) == 0.25


def test_rank_stabilized_scaling_divides_by_the_root():
    assert written(transformer__lora_alpha=6, transformer__use_rslora=True)["denoiser"].scale("x", 9) == 2


def test_nothing_written_is_nothing_said():
    header = Header(path=Path("a"), tensors={}, metadata={"ss_network_dim": "4"}, bytes=0)
    assert written_alphas(header) == {}
    assert written(unet__r=4) == {}


@pytest.mark.parametrize("alpha", ["8", None, True, 1e300, [8]])
def test_an_alpha_that_is_no_number_is_refused(alpha):
    with pytest.raises(ModelRefused, match="no number to scale by"):
        written(unet__lora_alpha=alpha)
    with pytest.raises(ModelRefused, match="no number to scale by"):
        written(unet__lora_alpha=1, unet__alpha_pattern={"x": alpha})


def test_doras_are_told_by_network():
    text = '{"unet.use_dora": true, "text_encoder.use_dora": false, "transformer.lora_alpha": 1}'
    header = Header(path=Path("a"), tensors={}, metadata={"lora_adapter_metadata": text}, bytes=0)
    assert written_doras(header) == {"denoiser"}


def test_text_that_is_no_json_is_refused():
    header = Header(path=Path("a"), tensors={}, metadata={"lora_adapter_metadata": "{" * 1000}, bytes=0)
    with pytest.raises(ModelRefused, match="JSON"):
        written_alphas(header)


NAME = "base_model.model.unet.x.lora_A.weight"


@pytest.fixture
def beside(tmp_path):
    """What a configuration beside a file of peft's says of its layers."""

    def call(config, name=NAME, metadata=None):
        (tmp_path / "adapter_config.json").write_text(json.dumps(config), "utf-8")
        specs = {name: TensorSpec(dtype="F32", shape=(4, 8), start=0, end=128)}
        return Header(path=tmp_path / "adapter_model.safetensors", tensors=specs, metadata=metadata or {}, bytes=128)

    return call


def test_what_peft_writes_beside_an_adapter(beside):
    header = beside({"peft_type": "LORA", "r": 4, "lora_alpha": 6, "alpha_pattern": {"x": 2}, "use_dora": True})
    assert {written_alphas(header)[where].scale("y", 4) for where in ("denoiser", "text_encoder")} == {1.5}
    assert written_alphas(header)["denoiser"].scale("a_x", 4) == 0.5 and "denoiser" in written_doras(header)
    assert written_alphas(beside({"peft_type": "LOHA", "r": 4, "alpha": 8}))["denoiser"].scale("y", 4) == 2
    rooted = beside({"lora_alpha": 6, "use_rslora": True, "fan_in_fan_out": False, "init_lora_weights": True})
    assert written_alphas(rooted)["denoiser"].scale("y", 9) == 2


def test_a_configuration_beside_other_files_is_not_theirs(beside):
    config = {"lora_alpha": 6}
    assert written_alphas(beside(config, name="lora_unet_x.lora_down.weight")) == {}
    metadata = {"lora_adapter_metadata": '{"unet.lora_alpha": 4}'}
    assert written_alphas(beside(config, metadata=metadata))["denoiser"].scale("y", 4) == 1


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"fan_in_fan_out": True}, "adapter_config.json: fan_in_fan_out True is not supported"),
        ({"layer_replication": [[0, 4]]}, "layer_replication"),
        ({"init_lora_weights": "pissa_niter_4"}, "an adapter of a changed base model"),
        ({"lora_alpha": "6"}, "no number to scale by"),
    ],
)
def test_settings_that_change_an_adapter_in_other_ways_are_refused(beside, config, why):
    with pytest.raises(ModelRefused, match=why):
        written_alphas(beside(config))

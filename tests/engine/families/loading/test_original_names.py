"""Every tensor of a single file goes where diffusers' own conversion puts it, bit for bit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from tiny_sdxl import LAYERS

from mezzotint.families.loading.original_names import Layout, Placement, Rows, layout_of, place

LAYOUT = Layout(unet_layers=2, vae_levels=4)


def placed(tensors):
    """By component, the state dict that placing tensor by tensor makes."""
    layout = layout_of(tensors)
    result: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        for placement in place(name, layout):
            parameters = result.setdefault(placement.component, {})
            assert placement.name not in parameters
            parameters[placement.name] = placement.take(tensor)
    return result


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        assert ours[name].shape == tensor.shape, name
        assert torch.equal(ours[name], tensor), name


@pytest.mark.parametrize("kind", ["base", "refiner"])
def test_against_the_functions_of_diffusers(kind, request):
    from diffusers.loaders import single_file_utils as peer

    path = request.getfixturevalue({"base": "tiny_single_file", "refiner": "tiny_refiner_file"}[kind])
    tensors = load_file(path)
    ours = placed(tensors)
    unet_config = {"layers_per_block": LAYERS, "addition_embed_type": "text_time"}
    assert_same(ours["unet"], peer.convert_ldm_unet_checkpoint(dict(tensors), unet_config))
    vae_config = {"down_block_types": [None] * 2, "up_block_types": [None] * 2}
    assert_same(ours["vae"], peer.convert_ldm_vae_checkpoint(dict(tensors), vae_config))
    prefix = f"conditioner.embedders.{int(kind == 'base')}.model."
    assert_same(ours["text_encoder_2"], peer.convert_open_clip_checkpoint(None, dict(tensors), prefix=prefix))
    if kind == "base":
        theirs = peer.convert_ldm_clip_checkpoint(dict(tensors))
        assert_same(ours["text_encoder"], {k.removeprefix("text_model."): v for k, v in theirs.items()})
    assert set(ours) == {"unet", "vae", "text_encoder_2"} | ({"text_encoder"} if kind == "base" else set())


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", ["base", "refiner"])
def test_against_the_pipelines_that_diffusers_loads(kind, request):
    from diffusers import StableDiffusionXLImg2ImgPipeline, StableDiffusionXLPipeline

    names = {"base": ("tiny_single_file", "tiny_sdxl_folder"), "refiner": ("tiny_refiner_file", "tiny_refiner_folder")}
    path, folder = map(request.getfixturevalue, names[kind])
    pipeline_class = StableDiffusionXLPipeline if kind == "base" else StableDiffusionXLImg2ImgPipeline
    pipeline = pipeline_class.from_single_file(str(path), config=str(folder), local_files_only=True)
    for component, parameters in placed(load_file(path)).items():
        assert_same(parameters, getattr(pipeline, component).state_dict())


@pytest.mark.parametrize(
    ("name", "component", "parameter", "form"),
    [
        ("{unet}time_embed.cond_proj.weight", "unet", "time_embedding.cond_proj.weight", "whole"),
        ("{unet}input_blocks.3.0.op.bias", "unet", "down_blocks.0.downsamplers.0.conv.bias", "whole"),
        ("{unet}input_blocks.8.0.in_layers.2.bias", "unet", "down_blocks.2.resnets.1.conv1.bias", "whole"),
        ("{unet}output_blocks.2.2.conv.bias", "unet", "up_blocks.0.upsamplers.0.conv.bias", "whole"),
        ("{vae}decoder.up.3.block.2.conv1.bias", "vae", "decoder.up_blocks.0.resnets.2.conv1.bias", "whole"),
        ("{vae}encoder.mid.attn_1.q.weight", "vae", "encoder.mid_block.attentions.0.to_q.weight", "matrix"),
        ("{clip}text_projection", "text_encoder_2", "text_projection.weight", "transposed"),
    ],
)
def test_single_names(name, component, parameter, form):
    name = name.format(unet="model.diffusion_model.", vae="first_stage_model.", clip="conditioner.embedders.0.model.")
    assert place(name, LAYOUT) == (Placement(component=component, name=parameter, form=form),)


@pytest.mark.parametrize(
    "name",
    [
        "model_ema.decay",
        "denoiser.sigmas",
        "v_pred",
        "first_stage_model.loss.logvar",
        "conditioner.embedders.0.transformer.text_model.embeddings.position_ids",
        "conditioner.embedders.1.model.logit_scale",
        "model.diffusion_model.middle_block.3.norm.weight",
    ],
)
def test_what_is_not_used_goes_nowhere(name):
    assert place(name, LAYOUT) == ()


@given(
    name=st.text("abz019._", max_size=40)
    | st.sampled_from(["out.0", "input_blocks.1.0.", "mid.attn_1.", "transformer.resblocks.0.", "middle_block.1."]),
    prefix=st.sampled_from(["model.diffusion_model.", "first_stage_model.", "conditioner.embedders.1.model.", ""]),
)
def test_any_name_can_be_asked(name, prefix):
    layout = layout_of([prefix + name])
    assert all(placement.component for placement in place(prefix + name, layout))


def test_rows_of_unequal_shares_make_up_the_whole():
    whole = torch.arange(28.0).reshape(14, 2)
    parts = [Rows(0, 1, 7), Rows(1, 1, 7), Rows(2, 1, 7), Rows(3, 4, 7)]
    taken = [part.take(whole) for part in parts]
    assert torch.equal(torch.cat(taken), whole)
    assert [part.share(14) for part in parts] == [len(each) for each in taken] == [2, 2, 2, 8]
    assert {part.whole(len(each)) for part, each in zip(parts, taken, strict=True)} == {14}

"""Qwen-Image: what parity with diffusers does not show."""

import gc
import json
import math
from weakref import ref

import pytest
import torch
from diffusers import QwenImageTransformer2DModel
from tiny_qwen_image import write_tiny_qwen_image

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import ComponentSource, Conditioning
from mezzotint.families.flow.qwen_parts import QWEN2_5_VL_SEEING
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.routing import route
from mezzotint.families.qwen_image.family import QwenImage
from mezzotint.families.samplers import build_scheduler, resolve_scheduler, set_steps
from mezzotint.memory.footprints.graph_hash import graph_hash
from mezzotint.memory.footprints.shipped import known_graph


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_qwen_image(tmp_path_factory.mktemp("q") / "Qwen-Image")


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def test_a_network_that_is_gone_leaves_no_rotary_embeddings(folder):
    network = QwenImageTransformer2DModel(**sources_of(folder).components["transformer"].config).eval()
    conditioning = Conditioning(guided=False, tensors={"text": torch.zeros(1, 3, network.config.joint_attention_dim)})
    with torch.no_grad():
        QwenImage().ask(network, torch.zeros(1, 16, 8, 8), torch.tensor([500.0]), conditioning)
    tables = ref(network.pos_embed), ref(network.pos_embed.pos_freqs)
    del network
    gc.collect()
    assert [table() for table in tables] == [None, None]


def test_it_is_recognised(folder):
    detected = detect(open_checkpoint(folder))
    assert (detected.family, detected.variant) == ("qwen-image", "base")
    assert detected.defaults.guidance_scale == 4.0


@pytest.mark.parametrize(("side", "mu"), [(256, 0.5), (1328, 0.8343), (1440, 0.8954)])
def test_noise_is_shifted_by_the_image_s_size_and_ends_at_a_fiftieth(folder, side, mu):
    sources = sources_of(folder)
    flow = QwenImage().flow_steps(sources, side, side, 20)
    assert flow.mu == pytest.approx(mu, abs=0.0001)
    resolved = resolve_scheduler(
        sources.scheduler, sampler=None, schedule=None, prediction_type=None, zero_terminal_snr=None, flow=flow
    )
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, 20)
    assert scheduler.sigmas[0] == 1 and scheduler.sigmas[-2] == pytest.approx(0.02)


@pytest.mark.parametrize("steps", [1, 2])
def test_few_steps_are_of_finite_noise(folder, steps):
    sources = sources_of(folder)
    flow = QwenImage().flow_steps(sources, 256, 256, steps)
    resolved = resolve_scheduler(
        sources.scheduler, sampler=None, schedule=None, prediction_type=None, zero_terminal_snr=None, flow=flow
    )
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, steps)
    assert scheduler.sigmas[0] == 1 and len(scheduler.timesteps) == steps
    assert bool(torch.isfinite(scheduler.sigmas).all())


@pytest.mark.parametrize("setting", ["guidance_embeds", "use_additional_t_cond", "use_layer3d_rope"])
def test_a_network_that_wants_to_be_told_more_is_refused(tmp_path, folder, setting):
    written = write_tiny_qwen_image(tmp_path / "model")
    place = written / "transformer" / "config.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {setting: True}))
    with pytest.raises(ModelRefused, match=setting):
        sources_of(written)


def test_of_the_encoder_the_part_that_reads_is_built_and_older_files_have_one_level(tmp_path):
    written = write_tiny_qwen_image(tmp_path / "model")
    new = sources_of(written).components["text_encoder"]
    place = written / "text_encoder" / "config.json"
    told = json.loads(place.read_text())
    place.write_text(json.dumps({**told["text_config"], **{key: told[key] for key in told if key != "text_config"}}))
    old = sources_of(written).components["text_encoder"]
    assert new.class_name == old.class_name == "Qwen2_5_VLTextModel"
    shapes = [{name: each.shape for name, each in empty_network(part).state_dict().items()} for part in (new, old)]
    assert shapes[0] == shapes[1]
    routed = route(sources_of(written), ["text_encoder"], {"text_encoder": shapes[0]})
    assert {placed.name for (placed,) in routed.values()} == set(shapes[0])
    assert not any("visual" in tensor or "lm_head" in tensor for tensor in routed)


@pytest.mark.parametrize("prefix", ["model.", "model.language_model.", "language_model."])
def test_names_of_its_tensors_in_files_of_any_age(tmp_path, prefix):
    from safetensors.torch import load_file, save_file

    written = write_tiny_qwen_image(tmp_path / "model")
    sources = sources_of(written)
    names = list(empty_network(sources.components["text_encoder"]).state_dict())
    (file,) = sources.components["text_encoder"].files
    kept = {name: each for name, each in load_file(file).items() if "visual" in name}
    save_file(kept | {prefix + name: torch.zeros(1) for name in names}, file)
    routed = route(sources, ["text_encoder"], {"text_encoder": names})
    assert {tensor: placed.name for tensor, (placed,) in routed.items()} == {prefix + name: name for name in names}


def test_guided_tokens_are_as_long_as_the_prompt_s():
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(2, 4, 6, 8, generator=generator)
    guided = QwenImage().guide(output, 5.0, 0.0)
    for row, column in ((0, 0), (2, 4), (4, 6)):
        token, alone = (each[0, :, row : row + 2, column : column + 2].norm() for each in (guided, output[1:]))
        assert math.isclose(token, alone, rel_tol=1e-5)


def test_its_encoder_s_memory_is_known_without_tracing():
    told = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
            "num_key_value_heads": 4, "vocab_size": 152064, "max_position_embeddings": 128000, "max_window_layers": 28,
            "layer_types": ["full_attention"] * 28, "sliding_window": None, "use_sliding_window": False,
            "rope_scaling": {"mrope_section": [16, 24, 24], "type": "default"}}  # fmt: skip
    assert known_graph(graph_hash("Qwen2_5_VLTextModel", told, 0)) is not None


def test_every_tensor_of_the_published_encoder_has_a_place():
    """Those of Qwen2.5-VL-7B-Instruct, as the configuration of its hub says, without memory for them."""
    eyes = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "in_chans": 3,
            "out_hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2, "window_size": 112,
            "fullatt_block_indexes": [7, 15, 23, 31], "tokens_per_second": 2, "temporal_patch_size": 2}  # fmt: skip
    told = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
            "num_key_value_heads": 4, "vocab_size": 152064, "rope_theta": 1000000.0, "vision_config": eyes,
            "rope_scaling": {"mrope_section": [16, 24, 24], "type": "mrope"}, "use_sliding_window": False}  # fmt: skip
    wanted = encoder_shapes(told)
    for words, seen in (("model.", "visual."), ("model.language_model.", "model.visual.")):
        names = {name.replace("language_model.", words, 1) if "visual" not in name else name: name for name in wanted}
        names = {old.replace("visual.", seen, 1) if old == new else old: new for old, new in names.items()}
        file = {old: wanted[new] for old, new in names.items()} | {"lm_head.weight": (152064, 3584)}
        assert QWEN2_5_VL_SEEING.prefix_in(file) == ""
        placed = {old: tuple(new for new, _ in QWEN2_5_VL_SEEING.place(old)) for old in file}
        assert placed == {old: (new,) for old, new in names.items()} | {"lm_head.weight": ()}
        assert encoder_shapes(QWEN2_5_VL_SEEING.config(file)) == wanted


def encoder_shapes(config):
    source = ComponentSource(
        name="text_encoder",
        library="transformers",
        class_name="Qwen2_5_VLModel",
        config=config,
        folder=None,
        files=(),
        bytes=0,
    )
    return {name: tuple(each.shape) for name, each in empty_network(source).state_dict().items()}

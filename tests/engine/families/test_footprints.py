"""Footprints of whole models, from their files' headers and configurations."""

from dataclasses import replace
from functools import cache

import pytest
from planned_machines import component_of

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.model import Conversion, convert
from mezzotint.families import footprints
from mezzotint.families.detection import detect
from mezzotint.families.footprints import footprint_of, graph_of
from mezzotint.families.known import family_of
from mezzotint.families.loading.sources import with_weights
from mezzotint.memory.footprints import component as component_footprint
from mezzotint.memory.footprints.shipped import shipped
from mezzotint.paths import assets_folder
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layouts.comfyui import ComfyUiLayout
from mezzotint.quantization.layouts.stored import StoredLayer
from mezzotint.quantization.policy import Choice

STARTERS = {"starter-dit": "dit", "starter-xl": "xl", "starter-xl-refiner": "xl-refiner"}


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


@cache
def traced(path):
    """Of a model that no test changes."""
    return footprint_of(sources_of(path), model_id="model")


def footprint(path, **options):
    return footprint_of(sources_of(path), model_id="model", **options) if options else traced(path)


def unshared(model):
    return tuple(replace(part, shared="") for part in model.components)


@pytest.fixture
def untraceable(monkeypatch):
    """Tracing is a failure."""

    def refuse(*_, **__):
        raise AssertionError("traced, though it is known")

    monkeypatch.setattr(component_footprint, "trace", refuse)


@pytest.fixture(scope="module")
def quantized(tiny_sdxl_folder, tiny_single_file, tmp_path_factory):
    """Copies of the tiny model in 8 bits, as a folder and as one file, with their reports."""
    made = {}
    for kind, path in (("folder", tiny_sdxl_folder), ("file", tiny_single_file)):
        output = tmp_path_factory.mktemp("quantized") / ("model" if kind == "folder" else "model.safetensors")
        convert(Conversion(sources=sources_of(path), choices={"unet": Choice(scheme="int8")}, output=output))
        made[kind] = output
    return made


@pytest.mark.parametrize("name", STARTERS)
def test_bundled_models_are_known_and_known_right(name, untraceable):
    found = footprint(assets_folder() / "starter" / STARTERS[name], use_shipped=True)
    assert unshared(found) == unshared(shipped(name))
    assert replace(found, id=name, components=()) == replace(shipped(name), components=())


@pytest.mark.slow
@pytest.mark.parametrize("name", STARTERS)
def test_what_ships_is_what_tracing_finds(name):
    found = footprint(assets_folder() / "starter" / STARTERS[name], use_shipped=False)
    for part, kept in zip(found.components, shipped(name).components, strict=True):
        assert (part.blocks, part.outside) == (kept.blocks, kept.outside)
        for positions, batch in ((77, 1), (1024, 2)):
            assert part.live.at(positions, batch) == pytest.approx(kept.live.at(positions, batch), rel=0.02)
            assert part.work.at(positions, batch) == pytest.approx(kept.work.at(positions, batch), rel=0.02)


@pytest.mark.slow
def test_a_file_and_a_folder_of_one_model_need_the_same(tiny_sdxl_folder, tiny_single_file):
    assert unshared(footprint(tiny_single_file)) == unshared(footprint(tiny_sdxl_folder))


@pytest.mark.slow
def test_shared_files_are_told(tiny_sdxl_folder, tiny_single_file):
    base = footprint(assets_folder() / "starter" / "xl")
    refiner = footprint(assets_folder() / "starter" / "xl-refiner")
    for name in ("text_encoder_2", "vae"):
        assert component_of(base, name).shared == component_of(refiner, name).shared
    keys = [part.shared for path in (tiny_sdxl_folder, tiny_single_file) for part in footprint(path).components]
    assert len(set(keys)) == len(keys)


def test_what_was_traced_is_kept(tiny_pixart_folder, tmp_path, monkeypatch):
    heard = []
    first = footprint(tiny_pixart_folder, cache=tmp_path, on_progress=lambda *said: heard.append(said))
    assert {name for name, _ in heard} == {"text_encoder", "transformer", "vae"}
    for path in tmp_path.iterdir():
        assert path.suffix == ".json"

    monkeypatch.setattr(component_footprint, "trace", None)
    rounded = footprint(tiny_pixart_folder, cache=tmp_path)
    for part, kept in zip(first.components, rounded.components, strict=True):
        assert (part.name, part.blocks, part.outside, part.float32) == (
            kept.name,
            kept.blocks,
            kept.outside,
            kept.float32,
        )
        assert part.live.at(1024) == pytest.approx(kept.live.at(1024), rel=1e-5)


@pytest.mark.slow
def test_a_damaged_entry_is_traced_again(tiny_pixart_folder, tmp_path):
    first = footprint(tiny_pixart_folder, cache=tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert unshared(footprint(tiny_pixart_folder, cache=tmp_path)) == unshared(first)
    assert all(path.stat().st_size > 100 for path in tmp_path.iterdir())


@pytest.mark.slow
def test_autoencoders_and_t5_are_wide(tiny_pixart_folder):
    wide = {part.name: part.float32 for part in footprint(tiny_pixart_folder).components}
    assert wide == {"text_encoder": True, "transformer": False, "vae": True}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_quantized_takes_what_its_files_say(kind, quantized, tiny_sdxl_folder):
    plain, small = footprint(tiny_sdxl_folder), footprint(quantized[kind])
    unet, before = component_of(small, "unet"), component_of(plain, "unet")
    assert [block.name for block in unet.blocks] == [block.name for block in before.blocks]
    assert [dict(block.bytes) for block in unet.blocks] == [{"none": block.bytes["int8"]} for block in before.blocks]
    assert dict(unet.outside) == {"none": before.outside["int8"]}
    assert unet.bytes("int4") == unet.bytes("none") == before.bytes("int8")
    assert unet.live == before.live
    assert replace(component_of(small, "vae"), shared="") == replace(component_of(plain, "vae"), shared="")


@pytest.mark.slow
def test_a_quantized_network_in_the_place_of_a_models_own(quantized, tiny_sdxl_folder):
    sources = sources_of(tiny_sdxl_folder)
    path = next((quantized["folder"] / "unet").glob("*.safetensors"))
    found = footprint_of(with_weights(sources, "unet", path), model_id="model")
    assert component_of(found, "unet").bytes("none") == component_of(
        footprint_of(sources, model_id="model"), "unet"
    ).bytes("int8")


def test_what_a_configuration_leaves_out_is_as_its_class_has_it(tiny_sdxl_folder):
    sources = sources_of(tiny_sdxl_folder)
    told = dict(sources.components["unet"].config)
    few = {
        key: told[key]
        for key in told
        if key in ("block_out_channels", "down_block_types", "up_block_types", "layers_per_block")
        or key.startswith(
            ("attention_head", "use_linear", "transformer_layers", "cross_attention_dim", "addition", "proj")
        )
    }
    few |= {"in_channels": 4, "out_channels": 4}
    unet = replace(sources.components["unet"], config=few)
    less = replace(sources, components={**sources.components, "unet": unet})
    assert graph_of(less, "unet") == graph_of(sources, "unet")


@pytest.mark.parametrize(
    ("class_name", "name", "format_", "expected"),
    [
        ("T5EncoderModel", "shared.weight", Fp8(), True),
        ("Qwen3Model", "model.embed_tokens.weight", Fp8(), True),
        ("Qwen3Model", "model.layers.0.mlp.up_proj.weight", Fp8(), False),
        ("Flux2Transformer2DModel", "time_in.in_layer.weight", Nvfp4(), True),
        ("Flux2Transformer2DModel", "time_in.in_layer.weight", Nf4(double=True), False),
    ],
)
def test_embeddings_and_kept_layers_have_16_bits_unless_their_format_stays(class_name, name, format_, expected):
    layer = StoredLayer(name="", format=format_, shape=(64, 64), names={}, decoder=ComfyUiLayout())
    assert footprints._is_dequantized(class_name, layer, [name]) is expected

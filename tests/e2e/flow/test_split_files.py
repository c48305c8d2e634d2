"""Models from the files that people have: as ComfyUI lays them out, all in one, and what is missing or does not fit."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tiny_chroma
import tiny_flux1
import tiny_flux2
import tiny_krea2
import tiny_qwen_image
import tiny_sana
import tiny_sd3
import tiny_z_image
import torch
from flow_parity import ours
from original_files import in_fp8, llama_names, raised_norms, weights, write, write_gguf, write_split
from packed_layers import KINDS, packed
from tiny_flow import qwen_tokenizer, t5_tokenizer

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import ModelRefused
from mezzotint.families import tokenizers
from mezzotint.families.tokenizers.gemma import TENSOR
from mezzotint.protocol import ModelRef

FIRST_BLOCK = re.compile(r"(layers|(double_|joint_|transformer_)?blocks)\.0\.")
ARCHITECTURES = {  # of llama.cpp
    "qwen3vl_4b_bf16": "qwen3vl",
    "qwen_2.5_vl_7b": "qwen2vl",
    "t5xxl_fp16": "t5encoder",
    "gemma_2_2b_it_elm_bf16": "gemma2",
}
WORDS = re.compile(r"embed_tokens\.weight|shared\.weight")
NO_WORDS = re.compile(rf"(model\.)?visual\.|lm_head\.|{TENSOR}")  # which lie in other files where a GGUF is
FAMILIES = {
    "z-image": (tiny_z_image.write_tiny_z_image, tiny_z_image.split_files),
    "flux2-klein": (tiny_flux2.write_tiny_klein, tiny_flux2.split_files),
    "krea2": (
        partial(tiny_krea2.write_tiny_krea2, layers=tiny_krea2.PUBLISHED_LAYERS, blocks=2),
        tiny_krea2.split_files,
    ),
    "qwen-image": (tiny_qwen_image.write_tiny_qwen_image, tiny_qwen_image.split_files),
    "flux": (tiny_flux1.write_tiny_flux, tiny_flux1.split_files),
    "chroma": (
        partial(tiny_chroma.write_tiny_chroma, use_dynamic_shifting=False, shift=1.0),
        tiny_chroma.split_files,
    ),
    "sd3": (tiny_sd3.write_tiny_sd3, tiny_sd3.split_files),
    "sana": (partial(tiny_sana.write_tiny_sana, **tiny_sana.PUBLISHED_HEADS), tiny_sana.split_files),
    "sana-sprint": (partial(tiny_sana.write_tiny_sprint, **tiny_sana.PUBLISHED_HEADS), tiny_sana.split_files),
}
IN_ONE_FILE = {  # encoders in one file with all
    "t5xxl_fp16": "t5xxl",
    "clip_l": "clip_l",
    "clip_g": "clip_g",
    "gemma_2_2b_it_elm_bf16": "gemma2_2b",
}


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    """A diffusers folder, and its files by the names that they have in ComfyUI's folders."""
    build, split = FAMILIES[request.param]
    folder = build(tmp_path_factory.mktemp(request.param) / "folder-turbo")
    return folder, split(folder)


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    """The bundled vocabularies are a hundred times larger than all the rest of such a model."""
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)
    monkeypatch.setattr(tokenizers, "t5_tokenizer", t5_tokenizer)


@pytest.mark.slow_after(5)
def test_split_files_make_the_very_image_of_the_folder(model, tmp_path):
    folder, files = model
    transformer = write_split(tmp_path / "models", files)
    np.testing.assert_array_equal(ours(folder, tmp_path, steps=2), ours(transformer, tmp_path, steps=2))


@pytest.mark.slow_after(2)
def test_one_file_makes_it_too(model, tmp_path):
    folder, files = model
    whole = {}
    for path, tensors in files.items():
        encoder = IN_ONE_FILE.get(Path(path).stem, "qwen3_4b")
        prefixes = {"diffusion_models": "model.diffusion_model.", "vae": "vae."}
        prefix = prefixes.get(Path(path).parent.name, f"text_encoders.{encoder}.transformer.")
        whole |= {f"text_encoders.{name}" if name == TENSOR else prefix + name: each for name, each in tensors.items()}
    file = write(tmp_path / "checkpoints" / "all-turbo.safetensors", whole)
    np.testing.assert_array_equal(ours(folder, tmp_path, steps=2), ours(file, tmp_path, steps=2))


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("kind", ["bare", "scaled", "told"])
def test_floats_of_8_bits_are_what_they_stand_for(model, tmp_path, kind):
    _, files = model
    made = [in_fp8(files[name], kind) for name in files if not name.startswith("vae/")]
    images = []
    for which in (0, 1):
        changed = dict(zip(files, (each[which] for each in made), strict=False))
        transformer = write_split(tmp_path / str(which), {**files, **changed})
        images.append(ours(transformer, tmp_path, steps=2))
    apart = int(any(name.endswith(".bias") for name in next(iter(files.values()))))  # biases are added apart
    np.testing.assert_allclose(*(image.astype(int) for image in images), rtol=0, atol=apart)


@pytest.mark.slow_after(3)
@pytest.mark.requires_package("comfy_kitchen")
@pytest.mark.requires_package("bitsandbytes")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["qwen-image"], indirect=True)
def test_layers_that_other_programs_packed_are_what_they_stand_for(model, tmp_path, kind):
    _, files = model
    made = [packed(files[name], kind) for name in files if not name.startswith("vae/")]
    assert all(len(each) > len(plain) + 5 for each, plain in made)
    images, schemes = [], []
    for which in (0, 1):
        changed = dict(zip(files, (each[which] for each in made), strict=False))
        transformer = write_split(tmp_path / str(which), {**files, **changed})
        images.append(ours(transformer, tmp_path, steps=2))
        schemes.append(Catalog.standard().find(ModelRef(id=str(transformer))).info.scheme)
    np.testing.assert_allclose(*(image.astype(int) for image in images), rtol=0, atol=1)  # biases are added apart
    assert schemes == ["int4" if kind == "nf4" else kind, ""]


def test_layers_for_kernels_of_another_program_are_refused_by_its_name(tmp_path):
    files = tiny_qwen_image.split_files(tiny_qwen_image.write_tiny_qwen_image(tmp_path / "folder"))
    name = next(iter(files))
    attention = "transformer_blocks.0.attn1.to_qkv"
    files[name] |= {f"{attention}.qweight": torch.zeros(4, 4, dtype=torch.int8), f"{attention}.wscales": torch.ones(4)}
    with pytest.raises(ModelRefused, match=r"Nunchaku \(SVDQuant\), such as .*qweight, .* get the model in fp8"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "models", files))))
    del files[name][f"{attention}.wscales"]
    with pytest.raises(ModelRefused, match="GPTQ or AWQ"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "others", files))))
    files[name][f"{attention}.scaled_zeros"] = torch.ones(4)
    with pytest.raises(ModelRefused, match=r"of Nunchaku's text encoder \(AWQ\), such as .*qweight, .*get the model"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "encoders", files))))


@pytest.mark.slow_after(2)
def test_packed_in_gguf_files(model, tmp_path):
    _, files = model
    names = list(files)
    words = {name: each for name, each in files[names[1]].items() if not NO_WORDS.match(name)}
    architectures = {names[1]: ARCHITECTURES.get(Path(names[1]).stem, "qwen3")}
    raised = int(architectures[names[1]] == "gemma2")
    packed = {names[0]: files[names[0]], names[1]: raised_norms(llama_names(words), raised)}
    plain = {}
    for name, tensors in packed.items():
        path = tmp_path / "packed" / name.replace(".safetensors", ".gguf")
        more = tiny_sana.add_vocabulary if raised and name == names[1] else None
        plain[name] = write_gguf(path, tensors, "Q8_0", architectures.get(name, "flow"), more)
    for name in names[2:]:
        write(tmp_path / "packed" / name, files[name])
    back = dict(zip(packed[names[1]], words, strict=True))
    plain[names[1]] = raised_norms({back[name]: each for name, each in plain[names[1]].items()}, -raised)
    plain[names[1]] = files[names[1]] | plain[names[1]]
    transformer = write_split(tmp_path / "plain", {**files, **plain})
    mine = ours(tmp_path / "packed" / names[0].replace(".safetensors", ".gguf"), tmp_path, steps=2)
    apart = int("Sana" in names[0])  # layers of another alignment may round otherwise
    np.testing.assert_allclose(ours(transformer, tmp_path, steps=2).astype(int), mine.astype(int), rtol=0, atol=apart)


def test_a_language_model_that_only_reads_is_no_other(tmp_path):
    """Qwen3 and what reads in Qwen3-VL are of the same shapes, and trained apart."""
    folder = tiny_krea2.write_tiny_krea2(tmp_path / "folder", layers=tiny_krea2.PUBLISHED_LAYERS, blocks=2)
    files = tiny_krea2.split_files(folder)
    name = list(files)[1]
    files[name] = {key: each for key, each in files[name].items() if ".visual." not in key}
    transformer = write_split(tmp_path / "models", files)
    with pytest.raises(ModelRefused, match="a text encoder of Qwen3-VL was not found that fits"):
        Catalog.standard().find(ModelRef(id=str(transformer)))


def test_fill_of_flux1_makes_the_very_image_of_its_folder(tmp_path):
    folder = tiny_flux1.write_tiny_flux(tmp_path / "folder", variant="fill")
    transformer = write_split(tmp_path / "models", tiny_flux1.split_files(folder))
    np.testing.assert_array_equal(ours(folder, tmp_path, steps=1), ours(transformer, tmp_path, steps=1))


def test_sana_of_2048_pixels_with_positions_and_normalized_queries(tmp_path):
    settings = {"sample_size": 64, "interpolation_scale": 1.0, "qk_norm": "rms_norm_across_heads"}
    folder = tiny_sana.write_tiny_sana(tmp_path / "folder", **tiny_sana.PUBLISHED_HEADS, **settings)
    transformer = write_split(tmp_path / "models", tiny_sana.split_files(folder))
    np.testing.assert_array_equal(ours(folder, tmp_path, steps=1), ours(transformer, tmp_path, steps=1))


def test_stable_diffusion_3_without_what_some_files_leave_out(tmp_path):
    """T5, CLIP-L's projection where it changes nothing; and the autoencoder as diffusers names it."""
    folder = tiny_sd3.write_tiny_sd3(tmp_path / "folder-turbo", with_t5=False)
    projection = "text_projection.weight"
    clip = weights(folder, "text_encoder") | {projection: torch.eye(24)}
    write(folder / "text_encoder" / "model.safetensors", clip, {"format": "pt"})
    files = tiny_sd3.split_files(folder)
    del files["text_encoders/t5xxl_fp16.safetensors"], files["text_encoders/clip_l.safetensors"][projection]
    files["vae/sd3_vae.safetensors"] = weights(folder, "vae")
    transformer = write_split(tmp_path / "models", files)
    np.testing.assert_array_equal(ours(folder, tmp_path, steps=2), ours(transformer, tmp_path, steps=2))


def test_the_autoencoder_of_flux1_is_none_of_stable_diffusion_3(tmp_path):
    """Theirs are of the same shapes, and only their names tell them apart."""
    files = tiny_sd3.split_files(tiny_sd3.write_tiny_sd3(tmp_path / "folder"))
    files["vae/ae.safetensors"] = files.pop("vae/sd3_vae.safetensors")
    transformer = write_split(tmp_path / "models", files)
    with pytest.raises(ModelRefused, match="put sd3_vae.safetensors beside it"):
        Catalog.standard().find(ModelRef(id=str(transformer)))


@pytest.mark.parametrize(("name", "variant"), [("sd3.5_large_turbo", "turbo"), ("sd3.5_medium", "medium")])
def test_variants_of_stable_diffusion_3_by_layers_and_name(tmp_path, name, variant):
    files = tiny_sd3.split_files(tiny_sd3.write_tiny_sd3(tmp_path / "folder"))
    first = next(iter(files))
    files = {first.replace("sd3.5_large_turbo", name): files.pop(first), **files}
    found = Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "models", files))))
    assert (found.info.family, found.info.variant) == ("sd3", variant)


def test_a_t5_of_other_languages_is_no_other(tmp_path):
    """UMT5, which has a bias of positions in every layer, is as wide as T5."""
    files = tiny_chroma.split_files(tiny_chroma.write_tiny_chroma(tmp_path / "folder"))
    name = list(files)[1]
    bias = "layer.0.SelfAttention.relative_attention_bias.weight"
    files[name][f"encoder.block.1.{bias}"] = files[name][f"encoder.block.0.{bias}"].clone()
    with pytest.raises(ModelRefused, match="a text encoder of T5 was not found that fits"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "models", files))))


def test_a_kindred_transformer_is_refused_by_name(tmp_path):
    klein = dict(tiny_flux2.split_files(tiny_flux2.write_tiny_klein(tmp_path / "klein")))
    name = next(iter(klein))
    klein[name] = klein[name] | {"guidance_in.in_layer.weight": torch.ones(64, 256)}
    with pytest.raises(ModelRefused, match="get FLUX.2 Klein"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "dev", klein))))


def test_an_autoencoder_of_flux2_with_a_small_decoder_or_in_todays_names(tmp_path):
    folder = tiny_flux2.write_tiny_klein(tmp_path / "folder")
    files = tiny_flux2.split_files(folder)
    usual = ours(write_split(tmp_path / "usual", files), tmp_path, steps=1)
    today = {**files, "vae/flux2-vae.safetensors": weights(folder, "vae")}
    np.testing.assert_array_equal(ours(write_split(tmp_path / "today", today), tmp_path, steps=1), usual)
    small = tiny_flux2.autoencoder(decoder_block_out_channels=(32, 32, 64, 64))
    small.save_pretrained(folder / "vae")
    files = tiny_flux2.split_files(folder)
    mine = ours(write_split(tmp_path / "small", files), tmp_path, steps=1)
    np.testing.assert_array_equal(mine, ours(folder, tmp_path, steps=1))


def test_a_gguf_of_another_network_is_told_its_way_in(tmp_path):
    write_gguf(tmp_path / "unet.gguf", {"input_blocks.0.0.weight": torch.ones(4, 32)})
    with pytest.raises(ModelRefused, match=r"a GGUF file, .* into its model with `--weights FILE`"):
        Catalog.standard().find(ModelRef(id=str(tmp_path / "unet.gguf")))


def test_by_its_file_name_alone(model, tmp_path, monkeypatch):
    _, files = model
    transformer = write_split(tmp_path / "models", files)
    monkeypatch.setenv("MEZZOTINT_MODEL_PATH", str(tmp_path / "models"))
    found = Catalog.standard().find(ModelRef(id=transformer.name))
    assert found.info.path == str(transformer) and found.info.problem is None


@pytest.mark.slow_after(1)
def test_what_is_missing_is_named_as_its_file_is_usually_called(model, tmp_path):
    _, files = model
    for missing in [name for name in list(files)[1:] if not ("sd3" in str(files) and "t5" in name)]:
        kept = {name: each for name, each in files.items() if name != missing}
        transformer = write_split(tmp_path / missing.replace("/", "-"), kept)
        with pytest.raises(ModelRefused, match=missing.rpartition("/")[2]):
            Catalog.standard().find(ModelRef(id=str(transformer)))


def test_an_encoder_of_another_width_is_refused_and_passed_over_where_one_fits(model, tmp_path):
    _, files = model
    name = list(files)[1]
    wide = {key: torch.cat([each, each], dim=-1) if each.ndim == 2 else each for key, each in files[name].items()}
    transformer = write_split(tmp_path / "models", {**files, name: wide})
    wanted = next(each for key, each in files[name].items() if WORDS.search(key)).shape[1]
    message = f"is a text encoder .* of width {2 * wanted}, .* takes one of width {wanted}: put {Path(name).name}"
    with pytest.raises(ModelRefused, match=message):
        Catalog.standard().find(ModelRef(id=str(transformer)))
    write(tmp_path / "models" / "text_encoders" / "zzz.safetensors", files[name])
    assert Catalog.standard().find(ModelRef(id=str(transformer))).info.problem is None


def test_a_file_with_odd_shapes_is_refused(model, tmp_path):
    _, files = model
    name = next(iter(files))
    odd = {key: each for key, each in files[name].items() if not FIRST_BLOCK.match(key)}
    transformer = write_split(tmp_path / "models", {**files, name: odd})
    with pytest.raises(ModelRefused, match="not laid out as"):
        Catalog.standard().find(ModelRef(id=str(transformer)))

"""Qwen-Image-Edit: bit for bit what the pipelines of diffusers make, whose encoder is told which tokens are images."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch
from card_jobs import pixels, run
from fake_card.install import fake_card
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, loaded, ours, pipeline, request_of, same
from original_files import in_fp8, weights, write, write_split
from PIL import Image
from tiny_flow import qwen_tokenizer
from tiny_qwen_image import Looks, split_files, write_tiny_edit

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, ModelRefused, UsageError
from mezzotint.families import tokenizers
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel, PromptInputs
from mezzotint.families.loading.networks import load_components
from mezzotint.families.qwen_image import edit
from mezzotint.families.qwen_image.edit import QwenImageEdit
from mezzotint.protocol import GenerateManyRequest, ModelRef, Output
from mezzotint.quantization.layers import quantized_layers

PLUS, FIRST = "QwenImageEditPlusPipeline", "QwenImageEditPipeline"
STEPS = 2
GIB = 2**30


@pytest.fixture(scope="module")
def plus(tmp_path_factory):
    return write_tiny_edit(tmp_path_factory.mktemp("plus") / "model", zero_cond_t=True)


@pytest.fixture
def images(tmp_path):
    """Three files of unlike sizes, and the images in them."""
    made = []
    for seed, size in enumerate([(64, 64), (70, 100), (96, 48)]):
        noise = np.random.default_rng(seed).integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
        path = tmp_path / f"{seed}.png"
        Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC).save(path)
        made.append((path, Image.open(path)))
    return made


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """Images are seen and kept at thousands of pixels, and not at a million."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit as first
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as later

    seen, kept = 64 * 64, 80 * 80
    monkeypatch.setattr(later, "CONDITION_IMAGE_SIZE", seen)
    monkeypatch.setattr(later, "VAE_IMAGE_SIZE", kept)
    whole = first.calculate_dimensions
    monkeypatch.setattr(first, "calculate_dimensions", lambda _, ratio: whole(kept, ratio))
    monkeypatch.setattr(edit, "SEEN_AREA", {"plus": seen, "first": kept})
    monkeypatch.setattr(edit, "KEPT_AREA", kept)


@pytest.fixture(autouse=True)
def in_turn(monkeypatch):
    """Prompts and negative ones one after the other, as in the pipelines, for the same last bits."""
    monkeypatch.setattr(QwenImageEdit, "spec", replace(QwenImageEdit.spec, halves=("sequential",)))


def theirs(name, folder, images, **fields):
    made = pipeline(name, folder, processor=None)
    made.processor = Looks(made.tokenizer)
    encoder = made.text_encoder
    encoder.forward = partial(told_kinds, encoder.forward, encoder.config.image_token_id)
    asked = {"height": SIDE, "width": SIDE, "num_inference_steps": STEPS, "generator": generator()}
    return made(images, PROMPT, **asked | fields).images[0]


def told_kinds(forward, place, input_ids, **others):
    """What diffusers leaves out (its issue 14194)."""
    return forward(input_ids=input_ids, mm_token_type_ids=(input_ids == place).int(), **others)


@pytest.mark.parametrize("shown", [(0,), (1, 2), (1, 0, 2)])
def test_of_one_image_or_several(plus, images, tmp_path, shown):
    paths, references = zip(*(images[each] for each in shown), strict=True)
    expected = theirs(PLUS, plus, list(references), negative_prompt=NEGATIVE, true_cfg_scale=4.0)
    asked = {"steps": STEPS, "guidance_scale": 4.0, "negative_prompt": NEGATIVE}
    same(expected, ours(plus, tmp_path, references=paths, **asked))


def test_2509_without_guidance(images, tmp_path):
    folder = write_tiny_edit(tmp_path / "model")
    path, reference = images[1]
    expected = theirs(PLUS, folder, [reference], true_cfg_scale=1.0)
    mine = ours(folder, tmp_path, references=[path], steps=STEPS, guidance_scale=1.0)
    same(expected, mine)
    assert not np.array_equal(mine, ours(folder, tmp_path, references=[images[0][0]], steps=STEPS, guidance_scale=1.0))


def test_the_encoder_sees_the_image(plus, images):
    """Also where its latents are left out."""
    model = loaded(plus, "tokenizer", "text_encoder")
    inputs = PromptInputs(
        prompt=PROMPT, negative_prompt="", width=SIDE, height=SIDE, guidance_scale=1.0, clip_skip=0, embeddings=()
    )
    shown = [(), (images[0][1],), (images[1][1],), (images[0][1], images[1][1])]
    texts = [QwenImageEdit().encode(model, replace(inputs, images=each)).tensors["text"] for each in shown]
    assert [each.shape[1] for each in texts] == sorted(each.shape[1] for each in texts)
    assert all(not torch.equal(one[:, -5:], other[:, -5:]) for one, other in combinations(texts, 2))


def test_what_is_known_of_a_prompt_is_known_of_its_images_alone(plus, images, tmp_path):
    shown = [images[0][0], images[1][0], images[0][0]]
    asked = [request_of(plus, tmp_path, references=[path], steps=STEPS, guidance_scale=1.0) for path in shown]
    engine = Engine(Catalog.standard())
    made = [np.array(Image.open(engine.generate(one).images[0].path)) for one in asked]
    np.testing.assert_array_equal(made[0], made[2])
    np.testing.assert_array_equal(made[1], ours(plus, tmp_path, references=shown[1:2], steps=STEPS, guidance_scale=1.0))
    assert not np.array_equal(made[0], made[1])


def test_prompts_are_denoised_together_where_references_are_of_one_size(plus, images, tmp_path):
    requests = [
        replace(
            request_of(plus, tmp_path, references=[images[0][0]], steps=STEPS, prompt=prompt),
            output=Output(path=f"{tmp_path}/out/{number}.png"),
        )
        for number, prompt in enumerate((PROMPT, "snow"))
    ]
    engine = Engine(Catalog.standard())
    outcomes = engine.generate_many(GenerateManyRequest(requests=tuple(requests)), lambda _: None, lambda: False)
    assert [outcome.result.together for outcome in outcomes.outcomes] == [2, 2]
    for number, one in enumerate(requests):
        alone = engine.generate(replace(one, output=Output(path=f"{tmp_path}/alone.png", overwrite=True)))
        files = (f"{tmp_path}/out/{number}.png", alone.images[0].path)
        expected, found = (np.array(Image.open(path)).astype(int) for path in files)
        assert np.abs(expected - found).max() <= 2


def test_a_prompt_with_the_mark_of_an_image_has_no_more_of_them(plus, images, tmp_path):
    path, mark = images[0][0], "<|image_pad|>"
    asked = {"references": [path], "steps": STEPS, "guidance_scale": 1.0}
    marked = ours(plus, tmp_path, prompt=f"{PROMPT}{mark}{mark}", **asked)
    np.testing.assert_array_equal(marked, ours(plus, tmp_path, **asked))


def test_a_long_prompt_is_cut_and_images_are_not(plus, images, tmp_path):
    paths = [path for path, _ in images]
    ours(plus, tmp_path, prompt=PROMPT * 200, references=paths, steps=STEPS, guidance_scale=1.0)


def test_a_strip_is_refused(plus, tmp_path):
    Image.new("RGB", (2010, 10)).save(tmp_path / "strip.png")
    with pytest.raises(ImageRefused, match="2010x10 is over 200 times as long as wide"):
        ours(plus, tmp_path, references=[tmp_path / "strip.png"])


def test_without_an_image_it_still_makes_one(plus, tmp_path):
    assert ours(plus, tmp_path, steps=STEPS).std() > 1


def test_the_first_model(images, tmp_path):
    folder = write_tiny_edit(tmp_path / "model", FIRST)
    path, reference = images[1]
    expected = theirs(FIRST, folder, reference, negative_prompt=NEGATIVE, true_cfg_scale=4.0)
    asked = {"steps": STEPS, "guidance_scale": 4.0, "negative_prompt": NEGATIVE}
    same(expected, ours(folder, tmp_path, references=[path], **asked))
    with pytest.raises(UsageError, match="takes 1 at most"):
        ours(folder, tmp_path, references=[path] * 2)


# ---- files that people have


@pytest.fixture
def small_vocabulary(monkeypatch):
    """The bundled vocabulary is a hundred times larger than all the rest of such a model."""
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)


@pytest.mark.parametrize("whole", [False, True], ids=["split", "in-one"])
def test_files_make_the_very_image_of_the_folder(plus, images, tmp_path, small_vocabulary, whole):
    files = split_files(plus, "qwen_image_edit_2511_bf16")
    transformer, encoder, vae = files.values()
    transformer["__index_timestep_zero__"] = torch.zeros(1)
    if whole:
        tensors = {f"model.diffusion_model.{name}": each for name, each in transformer.items()}
        tensors |= {f"text_encoders.qwen25_7b.transformer.{name}": each for name, each in encoder.items()}
        tensors |= {f"vae.{name}": each for name, each in vae.items()}
        file = write(tmp_path / "checkpoints" / "AIO.safetensors", tensors)
    else:
        file = write_split(tmp_path / "models", files)
    asked = {"references": [path for path, _ in images[:2]], "steps": STEPS}
    np.testing.assert_array_equal(ours(plus, tmp_path, **asked), ours(file, tmp_path, **asked))


def test_an_encoder_in_fp8_stays_so_with_its_vision_tower(plus, images, tmp_path, small_vocabulary):
    files = split_files(plus, "qwen_image_edit_2509_bf16")
    name = "text_encoders/qwen_2.5_vl_7b.safetensors"
    made, asked = [], {"references": [images[0][0]], "steps": STEPS}
    for which, tensors in enumerate(in_fp8(files[name], "scaled")):
        file = write_split(tmp_path / str(which), {**files, name: tensors})
        made.append(ours(file, tmp_path, **asked).astype(int))
    np.testing.assert_allclose(*made, rtol=0, atol=1)  # biases are added apart
    found = Catalog.standard().find(ModelRef(id=str(tmp_path / "0" / "diffusion_models" / file.name)))
    sources = QwenImageEdit().sources(found.checkpoint, found.detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32)
    load_components(model, ["text_encoder"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    layers = {name for name, _ in quantized_layers(model.networks["text_encoder"])}
    assert "visual.blocks.0.attn.qkv" in layers and "language_model.layers.0.mlp.up_proj" in layers
    assert not any("merger" in layer or "embed" in layer for layer in layers)


@pytest.mark.parametrize(
    ("name", "family", "variant"),
    [
        ("qwen_image_edit_fp8_e4m3fn", "qwen-image-edit", "first"),
        ("qwen_image_edit_2509_bf16", "qwen-image-edit", "plus"),
        ("Qwen-Image-Edit-2511-Lightning", "qwen-image-edit", "plus"),
        ("qwen_image_2512_bf16", "qwen-image", "base"),
    ],
)
def test_files_of_one_shape_are_told_apart_by_their_names(plus, tmp_path, name, family, variant):
    file = write(tmp_path / f"{name}.safetensors", weights(plus, "transformer"))
    found = detect(open_checkpoint(file))
    assert (found.family, found.variant) == (family, variant)


def test_an_encoder_without_a_vision_tower_is_no_part_of_it(plus, tmp_path, small_vocabulary):
    files = split_files(plus, "qwen_image_edit_2509_bf16")
    name = "text_encoders/qwen_2.5_vl_7b.safetensors"
    files[name] = {key: each for key, each in files[name].items() if not key.startswith("visual.")}
    with pytest.raises(ModelRefused, match=r"with its vision tower was not found .* put qwen_2.5_vl_7b.safetensors"):
        Catalog.standard().find(ModelRef(id=str(write_split(tmp_path / "models", files))))


# ---- memory


@pytest.mark.slow
def test_it_is_quantized_and_streamed_within_the_plan(plus, images, tmp_path):
    plain = {"quantization": "none", "text_quantization": "none"}
    asked = {"references": [path for path, _ in images], "steps": STEPS, "device": "cuda:0", **plain}
    job = request_of(plus, tmp_path, **asked)
    with fake_card(2 * GIB):
        whole = run(job)
        streamed = run(replace(job, vram_limit_bytes=whole.plan.smallest_vram_bytes))
        small = run(replace(job, quantization="int8", text_quantization="int8"))
    assert pixels(streamed) == pixels(whole) and small.text_quantization == "int8"
    assert any(part.resident_blocks < part.blocks for part in streamed.plan.components if part.blocks)
    for phase in (*whole.memory.phases, *streamed.memory.phases):
        assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase

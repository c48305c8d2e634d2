"""Which files of a repository are fetched: those that the folder's own reader then finds complete."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import pixart_folder, sdxl_folder

from mezzotint.checkpoints.folder import open_folder
from mezzotint.errors import ModelRefused
from mezzotint.library.downloads.choice import choose
from mezzotint.library.downloads.messages import HubFile, HubListing

INDEX = {
    "_class_name": "StableDiffusionXLPipeline",
    "scheduler": ["diffusers", "EulerDiscreteScheduler"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "tokenizer_2": ["transformers", "CLIPTokenizer"],
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "feature_extractor": [None, None],
    "force_zeros_for_empty_prompt": True,
}
CONFIGS = [
    "model_index.json",
    "scheduler/scheduler_config.json",
    *(f"{part}/config.json" for part in ("text_encoder", "text_encoder_2", "unet", "vae")),
    *(f"tokenizer{n}/{name}" for n in ("", "_2") for name in ("tokenizer_config.json", "vocab.json", "merges.txt")),
]
JUNK = [
    "README.md",
    "unet/diffusion_pytorch_model.bin",
    "unet/diffusion_flax_model.msgpack",
    "unet/openvino_model.bin",
    "unet/model.onnx",
    "pipeline.py",
    "unet/unet.py",
    "sd_xl_base_1.0.safetensors",
    "vae_1_0/config.json",
    "unet/diffusion_pytorch_model.non_ema.safetensors",
    "unet/more/diffusion_pytorch_model.safetensors",
]
STEMS = {"text_encoder": "model", "text_encoder_2": "model", "unet": "diffusion_pytorch_model"}
STEMS["vae"] = "diffusion_pytorch_model"


def listing(names, index=INDEX, sizes=()):
    files = tuple(HubFile(name=name, bytes=dict(sizes).get(name, 10), sha256=None, blob="b") for name in names)
    text = None if index is None else json.dumps(index)
    return HubListing(repository="o/n", commit="abc", files=files, licence="", locked=False, index=text)


def shards(stem, count, variant=""):
    mark = f".{variant}" if variant else ""
    names = [f"{stem}{mark}-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]
    return [*names, f"{stem}{mark}.safetensors.index.json"]


def test_half_precision_and_nothing_twice():
    full = [f"{part}/{stem}.safetensors" for part, stem in STEMS.items()]
    half = [f"{part}/{stem}.fp16.safetensors" for part, stem in STEMS.items()]
    chosen = choose(listing([*CONFIGS, *full, *half, *JUNK, "LICENSE.md"]), None)
    assert {file.name for file in chosen.files} == {*CONFIGS, *half, "LICENSE.md"} and chosen.is_folder


def test_what_is_never_opened_is_not_fetched():
    parts = ("text_encoder", "unet", "vae")
    index = {name: INDEX[name] for name in (*parts, "tokenizer", "scheduler")}
    index |= {
        "_class_name": "StableDiffusionPipeline",
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
        "feature_extractor": ["transformers", "CLIPImageProcessor"],
    }
    weights = [f"{part}/{STEMS[part]}.safetensors" for part in parts]
    unused = ["safety_checker/config.json", "safety_checker/model.safetensors", "feature_extractor/config.json"]
    wanted = [name for name in CONFIGS if "_2/" not in name]
    chosen = choose(listing([*wanted, *weights, *unused], index), None)
    assert {file.name for file in chosen.files} == {*wanted, *weights}


def test_shards_beside_a_whole_file_of_half_precision():
    """As some popular models are published."""
    parts = [f"{part}/{stem}.safetensors" for part, stem in STEMS.items() if part != "unet"]
    unet = [f"unet/{name}" for name in shards("diffusion_pytorch_model", 2)]
    half = "unet/diffusion_pytorch_model.fp16.safetensors"
    assert half in {file.name for file in choose(listing([*CONFIGS, *parts, *unet, half]), None).files}
    assert {*unet} <= {file.name for file in choose(listing([*CONFIGS, *parts, *unet]), None).files}
    with pytest.raises(ModelRefused, match="unet has no weights as safetensors"):
        choose(listing([*CONFIGS, *parts, *unet[1:]]), None)


VARIANTS = st.sampled_from(["whole", "half", "shards", "half shards", "old half shards", "whole and half"])


@given(st.fixed_dictionaries(dict.fromkeys(STEMS, VARIANTS)), st.booleans())
def test_what_is_chosen_is_complete_for_the_reader(tmp_path_factory, forms, pixart):
    """Written as chosen and no more, the folder opens."""
    root = tmp_path_factory.mktemp("chosen")
    original = (pixart_folder if pixart else sdxl_folder)(root / "original")
    contents = {}
    for path in (one for one in original.rglob("*") if one.is_file()):
        name = path.relative_to(original).as_posix()
        part, stem = name.split("/")[0], path.stem
        if path.suffix == ".safetensors":
            contents.update(stored(f"{part}/", stem, forms.get(part, "whole"), path.read_bytes()))
        else:
            contents[name] = path.read_bytes()
    contents.update(dict.fromkeys(JUNK, b"junk"))
    index = json.loads((original / "model_index.json").read_text())
    files = choose(listing(contents, index), None).files
    for file in files:
        (root / "copy" / file.name).parent.mkdir(parents=True, exist_ok=True)
        (root / "copy" / file.name).write_bytes(contents[file.name])
    opened = open_folder(root / "copy")
    weights = [file for component in opened.components.values() for file in component.files]
    assert len(weights) == sum(file.name.endswith(".safetensors") for file in files)


def stored(part, stem, form, data):
    """Weights as a repository may hold them."""
    half = ".fp16" if "half" in form else ""
    found = {}
    if form in ("whole", "whole and half"):
        found[f"{part}{stem}.safetensors"] = data
    if form in ("half", "whole and half"):
        found[f"{part}{stem}.fp16.safetensors"] = data
    if "shards" in form:
        names = [f"{stem}{half}-0000{i}-of-00002.safetensors" for i in (1, 2)]
        index = f"{stem}{half}.safetensors.index.json"
        if form == "old half shards":
            names = [f"{stem}-0000{i}-of-00002.fp16.safetensors" for i in (1, 2)]
            index = f"{stem}.safetensors.index.fp16.json"
        found.update({part + name: data for name in names})
        found[part + index] = json.dumps({"weight_map": {str(i): name for i, name in enumerate(names)}}).encode()
    return found


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"_class_name": "MarigoldDepthPipeline"}, "made for MarigoldDepthPipeline; supported are .*PixArt"),
        ({"_class_name": 7}, "made for 7"),
        ({"unet": ["evil", "Loader"]}, "unet is .*evil.* not supported"),
        ({"../../x": ["diffusers", "AutoencoderKL"]}, "not supported"),
        ({"safety_checker": ["x", "Y"]}, "not supported"),
        ({"vae": "x"}, "incomplete: no vae"),
        ({"vae": [["diffusers"], "AutoencoderKL"]}, "vae is .* not supported"),
        ({}, "vae has no weights as safetensors"),
    ],
)
def test_refused_before_anything_is_fetched(change, why):
    whole = [f"{part}/{stem}.safetensors" for part, stem in STEMS.items() if part != "vae"]
    with pytest.raises(ModelRefused, match=why):
        choose(listing([*CONFIGS, *whole], INDEX | change), None)


def test_a_part_that_is_missing():
    index = {key: value for key, value in INDEX.items() if key != "vae"}
    whole = [f"{part}/{stem}.safetensors" for part, stem in STEMS.items()]
    with pytest.raises(ModelRefused, match="incomplete: no vae"):
        choose(listing([*CONFIGS, *whole], index), None)


def test_the_only_file():
    chosen = choose(listing(["one.safetensors", "README.md", "lora/x.safetensors"], None), None)
    assert [file.name for file in chosen.files] == ["one.safetensors"] and not chosen.is_folder


def test_several_files_are_named_largest_first():
    many = [f"m{i}.safetensors" for i in range(12)]
    with pytest.raises(ModelRefused) as caught:
        choose(listing(many, None, sizes={"m7.safetensors": 7 * 2**30}.items()), None)
    assert "o/n/FILE: m7.safetensors (7.0 GB), m0" in str(caught.value)
    assert len(re.findall(r"safetensors", str(caught.value))) == 8


def test_a_file_that_is_not_there():
    with pytest.raises(ModelRefused, match=r"no 'modl\.safetensors'; nearest: model\.safetensors"):
        choose(listing(["model.safetensors"], None), "modl.safetensors")


def test_nothing_to_run():
    with pytest.raises(ModelRefused, match="nothing that can be run"):
        choose(listing(["README.md"], None), None)


def test_a_network_that_looks_at_images_comes_with_its_configuration():
    names = ["config.json", "preprocessor_config.json", "model.safetensors", "model.onnx", "README.md", "LICENSE"]
    config = json.dumps({"architectures": ["DepthAnythingForDepthEstimation"]})
    chosen = choose(replace(listing(names, index=None), config=config), None)
    assert chosen.is_folder and {file.name for file in chosen.files} == {"config.json", "model.safetensors", "LICENSE"}
    with pytest.raises(ModelRefused, match="no weights as safetensors"):
        choose(replace(listing(["config.json", "pytorch_model.bin"], index=None), config=config), None)
    other = json.dumps({"architectures": ["LlamaForCausalLM"]})
    assert not choose(replace(listing(names, index=None), config=other), None).is_folder


def test_networks_in_onnx_come_in_one_precision():
    names = ["onnx/model.onnx", "onnx/model_fp16.onnx", "preprocessor_config.json", "config.json", "LICENSE"]
    chosen = choose(listing(names, None), None)
    assert chosen.is_folder
    assert [file.name for file in chosen.files] == ["onnx/model.onnx", "preprocessor_config.json", "LICENSE"]

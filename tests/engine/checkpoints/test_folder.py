"""Diffusers folders: proper ones are described, everything else is refused by name."""

import json
from pathlib import Path

import pytest
from model_files import change_json, pixart_folder, sdxl_folder, small, write_json

from mezzotint.checkpoints.folder import open_folder, published_name
from mezzotint.errors import ModelRefused, StorageError


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/models/FLUX.2-klein-4B", "FLUX.2-klein-4B"),
        ("/cache/models--owner--Z-Image-Turbo/snapshots/0123abcd", "Z-Image-Turbo"),
    ],
)
def test_a_folder_is_named_by_a_person_or_by_its_repository(path, name):
    assert published_name(Path(path)) == name


def test_a_whole_sdxl_folder(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    folder = open_folder(path)
    assert folder.path == path.resolve()
    assert folder.pipeline_class == "StableDiffusionXLPipeline"
    assert sorted(folder.components) == [
        "scheduler",
        "text_encoder",
        "text_encoder_2",
        "tokenizer",
        "tokenizer_2",
        "unet",
        "vae",
    ]
    unet = folder.components["unet"]
    assert (unet.library, unet.class_name) == ("diffusers", "UNet2DConditionModel")
    assert unet.config["sample_size"] == 128
    assert unet.files == (folder.path / "unet" / "diffusion_pytorch_model.safetensors",)
    assert folder.components["text_encoder_2"].files == (folder.path / "text_encoder_2" / "model.safetensors",)
    assert folder.components["scheduler"].files == folder.components["tokenizer"].files == ()
    assert folder.bytes == 4 * len(small())
    assert folder.settings == {}
    assert folder.options["force_zeros_for_empty_prompt"] is True


def test_a_list_of_whole_numbers_is_a_setting_of_the_pipeline(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    set_index(text_encoder_select_layers=[2, 5])(path)
    assert open_folder(path).options["text_encoder_select_layers"] == [2, 5]


def test_a_refiner_has_only_the_second_text_encoder(tmp_path):
    folder = open_folder(sdxl_folder(tmp_path / "model", refiner=True))
    assert {"text_encoder", "tokenizer"}.isdisjoint(folder.components)


def test_a_pixart_folder_with_settings(tmp_path):
    settings = {"name": "starter-dit", "defaults": {"width": 128, "height": 128, "steps": 12, "guidance_scale": 3.5}}
    folder = open_folder(pixart_folder(tmp_path / "model", settings))
    assert folder.settings == settings
    assert folder.components["transformer"].class_name == "PixArtTransformer2DModel"


def test_pickles_beside_safetensors_are_ignored(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    (path / "unet" / "diffusion_pytorch_model.bin").write_bytes(b"\x80\x04.")
    (path / "sd_xl_base_1.0.ckpt").write_bytes(b"\x80\x04.")
    assert open_folder(path).components["unet"].files[0].suffix == ".safetensors"


def set_index(**changes):
    return lambda path: change_json(path / "model_index.json", **changes)


def set_config(name, **changes):
    return lambda path: change_json(path / name, **changes)


def remove(name):
    return lambda path: (path / name).unlink()


def write(name, data):
    def write_it(path):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)

    return write_it


def only_pickles(path):
    (path / "unet" / "diffusion_pytorch_model.safetensors").rename(path / "unet" / "diffusion_pytorch_model.bin")


def no_folder(path):
    (path / "vae").rename(path / "elsewhere")


REFUSED = {
    "no index": (remove("model_index.json"), "no model_index.json"),
    "index no JSON": (write("model_index.json", b"import os"), "not proper JSON"),
    "index too large": (write("model_index.json", b'{"a":"' + b"x" * 2**18 + b'"}'), "larger than the 262144 bytes"),
    "index too deep": (write("model_index.json", b'{"a":' + b"[" * 9999), "nested too deeply"),
    "index a list": (write("model_index.json", b"[]"), "not an object"),
    "unknown pipeline": (set_index(_class_name="EvilPipeline"), "the pipeline EvilPipeline is not one of"),
    "pipeline of its own file": (set_index(_class_name=["pipeline", "Evil"]), r"the pipeline \['pipeline', 'Evil'\]"),
    "no pipeline": (set_index(_class_name=None), "the pipeline None"),
    "another library": (set_index(unet=["os", "system"]), "unet names os.system, which is not allowed there"),
    "a library within": (set_index(unet=["diffusers.utils", "UNet2DConditionModel"]), "which is not allowed there"),
    "another class": (set_index(vae=["diffusers", "DiffusionPipeline"]), "vae names diffusers.DiffusionPipeline"),
    "a class in the wrong place": (set_index(vae=["diffusers", "UNet2DConditionModel"]), "vae names"),
    "another component": (set_index(extra=["diffusers", "AutoencoderKL"]), r"component extra \(AutoencoderKL\)"),
    "a component that is a path": (set_index(**{"../x": ["diffusers", "AutoencoderKL"]}), r"the component \.\./x"),
    "half a pair": (set_index(unet=[None, "UNet2DConditionModel"]), "not a library and a class"),
    "three of a pair": (set_index(unet=["diffusers", "UNet2DConditionModel", {}]), "not a library and a class"),
    "a pair of numbers": (set_index(unet=[1, 2]), "not a library and a class"),
    "an object for a pair": (set_index(unet={"a": 1}), "not a library and a class"),
    "left out": (set_index(unet=[None, None]), "no unet, which this pipeline needs"),
    "custom pipeline": (set_index(custom_pipeline="evil/repo"), "'custom_pipeline' requires code"),
    "auto map": (set_config("unet/config.json", auto_map={"AutoModel": "m.M"}), "'auto_map' requires code"),
    "remote code, deep down": (
        set_config("text_encoder/config.json", text_config={"a": [{"trust_remote_code": True}]}),
        "'trust_remote_code' requires code",
    ),
    "auto map of a tokenizer": (set_config("tokenizer/tokenizer_config.json", auto_map={}), "'auto_map' requires code"),
    "auto map beside": (write("unet/generation_config.json", b'{"auto_map": {}}'), "'auto_map' requires code"),
    "another class in the config": (
        set_config("unet/config.json", _class_name="Evil"),
        "the class Evil is not allowed",
    ),
    "a list in the config": (set_config("vae/config.json", _class_name=["a", "B"]), "is not allowed there"),
    "no config": (remove("vae/config.json"), "incomplete: config.json is missing"),
    "config a list": (write("vae/config.json", b"[]"), "not an object"),
    "no folder": (no_folder, "incomplete: the folder vae is missing"),
    "no weights": (remove("vae/diffusion_pytorch_model.safetensors"), "no weights .*: an incomplete download"),
    "only pickled weights": (only_pickles, r"only pickled weights \(diffusion_pytorch_model.bin\)"),
    "weights cut off": (write("unet/diffusion_pytorch_model.safetensors", small()[:-3]), "incomplete: .* bytes"),
    "weights a pickle": (write("unet/diffusion_pytorch_model.safetensors", b"\x80\x04cos\nsystem\n"), "a pickle"),
    "code": (write("unet/unet.py", b""), r"holds code \(unet.unet.py\)"),
    "code in capitals": (write("PIPELINE.PY", b""), r"holds code \(PIPELINE.PY\)"),
    "code far down": (write("a/b/c/d.pyc", b""), "holds code"),
    "a library beside": (write("a/evil.so", b""), "holds code"),
    "bad settings": (write("mezzotint.json", b'{"name": "../x"}'), "name is ../x; it must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_broken_folder_is_refused_by_name(tmp_path, name):
    path = sdxl_folder(tmp_path / "model")
    change, message = REFUSED[name]
    change(path)
    with pytest.raises(ModelRefused, match=message) as caught:
        open_folder(path)
    assert str(caught.value).isprintable()
    assert "model" in str(caught.value)


def test_names_that_would_break_the_line_are_spelled_out(tmp_path):
    path = sdxl_folder(tmp_path / "model")
    change_json(path / "model_index.json", _class_name="Evil\n\u202e<b>")
    with pytest.raises(ModelRefused, match=r"Evil\\n\\u202e<b>"):
        open_folder(path)


def test_a_file_is_no_folder(tmp_path):
    write_json(tmp_path / "x", {})
    with pytest.raises(StorageError, match="is not a folder"):
        open_folder(tmp_path / "x")


@pytest.mark.parametrize("part", ["unet", "transformer", "text_encoder", "tokenizer", "scheduler", "vae"])
def test_every_pair_that_is_not_in_the_table_is_refused(tmp_path, part):
    # A pair from elsewhere in the table is as wrong as one from nowhere.
    make = pixart_folder if part == "transformer" else sdxl_folder
    path = make(tmp_path / "model")
    index = json.loads((path / "model_index.json").read_text())
    for library in ("diffusers", "transformers"):
        if library != index[part][0]:
            change_json(path / "model_index.json", **{part: [library, index[part][1]]})
            with pytest.raises(ModelRefused, match=f"{part} names {library}"):
                open_folder(path)

"""`mezzotint quantize`, and images by what it makes."""

import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.write import SafetensorsWriter
from mezzotint.cli import main
from mezzotint.conversion import model as conversion
from mezzotint.paths import assets_folder
from mezzotint.protocol import SCHEMES

pytestmark = pytest.mark.usefixtures("every_device")

SAID = ("a red house by the sea at dusk", "--steps", "4", "--seed", "5", "--json", "--dtype", "float32")
TRANSFORMER = "transformer/diffusion_pytorch_model.safetensors"


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def pixels(call, tmp_path):
    def make(*words):
        code, out, err = call("generate", *SAID, "-o", f"{tmp_path}/images/", *words)
        assert code == 0, err
        return np.asarray(Image.open(json.loads(out)["images"][0]["path"]))

    return make


@pytest.fixture
def starter(tmp_path):
    """A copy of the small transformer model, to be damaged."""
    return shutil.copytree(assets_folder() / "starter" / "dit", tmp_path / "models" / "dit")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", ["starter-dit", "starter-xl"])
def test_a_copy_paints_as_the_model_does_that_is_quantized_while_it_is_loaded(call, pixels, tmp_path, model, scheme):
    output = tmp_path / "small"
    code, out, err = call("quantize", model, "--scheme", scheme, "-o", output, "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["bytes_after"] < 0.8 * report["bytes_before"]
    assert any(layer["scheme"] == scheme for part in report["components"] for layer in part["layers"])
    assert (pixels("-m", output) == pixels("-m", model, "--quant", scheme)).all()


@pytest.mark.slow
def test_text_encoders_are_chosen_apart(call, pixels, tmp_path):
    code, out, err = call(
        "quantize", "starter-dit", "--scheme", "int4", "--text-encoders", "int8", "-o", tmp_path / "small", "--json"
    )
    assert code == 0, err
    schemes = {part["name"]: {layer["scheme"] for layer in part["layers"]} for part in json.loads(out)["components"]}
    assert schemes == {"text_encoder": {"int8"}, "transformer": {"int4"}, "vae": set()}
    assert pixels("-m", tmp_path / "small").shape == (128, 128, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("int8", "--for", "comfyui"), ("int8-weight",), ("int4",)], ids=lambda words: words[0]
)
def test_a_single_file(call, pixels, tiny_single_file, tmp_path, words):
    output = tmp_path / "small.safetensors"
    code, out, err = call("quantize", tiny_single_file, "--scheme", *words, "-o", output, "--report")
    assert code == 0, err
    assert "attn1.to_q" in out
    assert pixels("-m", output, "--size", "64x64").shape == (64, 64, 3)


def test_an_output_that_exists_is_kept(call, tmp_path):
    (tmp_path / "mine").mkdir()
    code, _, err = call("quantize", "starter-dit", "--scheme", "int8", "-o", tmp_path / "mine")
    assert code == 2
    assert "exists already" in err


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_told_by_their_layer(call, starter, tmp_path, bad):
    tensors = load_file(starter / TRANSFORMER)
    name = "transformer_blocks.2.attn1.to_q.weight"
    tensors[name][3, 4] = bad
    save_file(tensors, starter / TRANSFORMER)
    code, _, err = call("quantize", starter, "--scheme", "int8", "-o", tmp_path / "small")
    assert code == 5
    assert name in err
    assert not (tmp_path / "small").exists()


def test_a_scheme_that_fits_no_layer_is_told(call, tiny_pixart_folder, tmp_path):
    code, _, err = call("quantize", tiny_pixart_folder, "--scheme", "int4-lowrank", "-o", tmp_path / "small")
    assert code == 5
    assert "can be quantized to int4-lowrank" in err
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--scheme", "int8", "--for", "comfyui"), "ComfyUI reads single files"),
        (("--scheme", "int8", "--for", "diffusers"), "diffusers cannot read int8"),
    ],
)
def test_what_another_program_cannot_read_is_refused(call, tmp_path, words, reason):
    code, _, err = call("quantize", "starter-dit", *words, "-o", tmp_path / "small")
    assert code == 2
    assert reason in err


@pytest.mark.slow
def test_a_disk_that_fills_leaves_no_model_and_is_gone_on_with(call, pixels, tmp_path, monkeypatch):
    added = SafetensorsWriter.add
    written = []

    def add(self, name, tensor):
        written.append(name)
        if len(written) == 200:
            raise OSError(28, "No space left on device")
        added(self, name, tensor)

    monkeypatch.setattr(SafetensorsWriter, "add", add)
    output = tmp_path / "small"
    code, _, err = call("quantize", "starter-dit", "--scheme", "int8", "-o", output)
    assert code == 7
    assert "No space left" in err
    assert not output.exists()
    assert not list(tmp_path.rglob("*.part"))
    monkeypatch.setattr(SafetensorsWriter, "add", added)
    converted = []
    convert = conversion.convert_file
    monkeypatch.setattr(
        conversion, "convert_file", lambda source, *r, **k: (converted.append(source), convert(source, *r, **k))[1]
    )
    code, _, err = call("quantize", "starter-dit", "--scheme", "int8", "-o", output)
    assert code == 0, err
    assert 0 < len(converted) < 3
    assert pixels("-m", output).shape == (128, 128, 3)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("small")] == ["small"]


@pytest.fixture
def small(call, tmp_path):
    output = tmp_path / "small"
    assert call("quantize", "starter-dit", "--scheme", "int8", "-o", output)[0] == 0
    return output


def damaged(folder, change):
    tensors = load_file(folder / TRANSFORMER)
    change(tensors)
    save_file(tensors, folder / TRANSFORMER)


LAYER = "transformer_blocks.1.attn1.to_q"


def described(text):
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop(f"{LAYER}.weight_scale"), "weight_scale"),
        (lambda t: t.update({f"{LAYER}.weight_scale": torch.ones(7, 1)}), "weight_scale"),
        (lambda t: t.update({f"{LAYER}.comfy_quant": described(b'{"format": "float9"}')}), "float9"),
        (lambda t: t.update({f"{LAYER}.comfy_quant": described(b"{")}), "JSON"),
        (
            lambda t: t.update(
                {
                    f"{LAYER}.comfy_quant": described(
                        b'{"format":"int8_tensorwise","convrot":true,"convrot_groupsize":256}'
                    )
                }
            ),
            "256",
        ),
        (lambda t: t.update({f"{LAYER}.weight": torch.zeros(64, 64, dtype=torch.int8)}), LAYER),
    ],
    ids=[
        "no scale",
        "a scale of another shape",
        "an unknown format",
        "no JSON",
        "a group that divides not",
        "a weight",
    ],
)
def test_damaged_layers_are_told(call, small, change, reason):
    damaged(small, change)
    code, _, err = call("generate", *SAID, "-m", small)
    assert code == 5
    assert reason in err


def test_a_truncated_file_is_told(call, small):
    path = small / TRANSFORMER
    path.write_bytes(path.read_bytes()[:-1000])
    code, _, err = call("generate", *SAID, "-m", small)
    assert code == 5
    assert path.name in err

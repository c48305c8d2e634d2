"""The network that makes images from a file of its own: safetensors or GGUF, in diffusers' naming or the original."""

import json

import gguf
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from mezzotint.checkpoints.weight_file import read_weights
from mezzotint.cli import main
from mezzotint.paths import assets_folder

pytestmark = pytest.mark.usefixtures("every_device")

UNET = "starter/xl/unet/diffusion_pytorch_model.safetensors"
SAID = ("a red house by the sea at dusk", "--steps", "4", "--seed", "5", "--json", "--dtype", "float32")


@pytest.fixture
def tensors():
    return dict(read_weights([assets_folder() / UNET], on_bytes=lambda _: None, cancelled=lambda: False))


@pytest.fixture
def generate(capsys, tmp_path):
    def call(*words):
        code = main(["generate", *SAID, "-m", "starter-xl", "-o", f"{tmp_path}/", *words])
        said = capsys.readouterr()
        if code:
            return code, said.out + said.err
        path = json.loads(said.out)["images"][0]["path"]
        return path, np.asarray(Image.open(path)).astype(int)

    return call


def write_gguf(path, tensors, kind):
    writer = gguf.GGUFWriter(path, "sdxl")
    for name, tensor in tensors.items():
        data = tensor.float().numpy()
        fits = data.ndim == 2 and data.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0] == 0
        chosen = kind if fits else gguf.GGMLQuantizationType.F32
        packed = gguf.quants.quantize(data, chosen) if fits else data
        writer.add_tensor(name, packed, raw_dtype=chosen if fits else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_the_same_weights_make_the_same_image(generate, tensors, tmp_path):
    path = tmp_path / "unet.safetensors"
    save_file(tensors, path)
    _, plain = generate()
    _, replaced = generate("--weights", str(path))
    assert (plain == replaced).all()


def test_other_weights_make_another(generate, tensors, tmp_path):
    path = tmp_path / "unet.safetensors"
    save_file({name: tensor * (0.9 if name.startswith("mid_block") else 1) for name, tensor in tensors.items()}, path)
    _, plain = generate()
    _, replaced = generate("--weights", str(path))
    assert (plain != replaced).any()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most"), [("Q8_0", 3), ("Q4_0", 40)])
def test_a_gguf_is_turned_back(generate, tensors, tmp_path, kind, most):
    path = tmp_path / "unet.gguf"
    write_gguf(path, tensors, gguf.GGMLQuantizationType[kind])
    _, plain = generate()
    _, replaced = generate("--weights", str(path))
    assert 0 < np.abs(plain - replaced).mean() < most
    _, again = generate("--weights", str(path), "--quant", "int8", "--hires", "1.5")
    assert again.shape == (192, 192, 3)


def test_an_image_is_made_again_with_its_weights(generate, tensors, tmp_path, capsys):
    path = tmp_path / "unet.gguf"
    write_gguf(path, tensors, gguf.GGMLQuantizationType.Q8_0)
    made, pixels = generate("--weights", str(path))
    assert main(["generate", "--from", made, "--json", "-o", f"{tmp_path}/again.png"]) == 0
    again = json.loads(capsys.readouterr().out)["images"][0]["path"]
    assert (np.asarray(Image.open(again)).astype(int) == pixels).all()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("unet.gguf", b"GGUF", "unet.gguf"),
        ("unet.ckpt", b"\x80\x02", "pickle"),
        ("absent.safetensors", None, "absent.safetensors"),
    ],
)
def test_what_is_no_file_of_weights_is_told(generate, tmp_path, name, content, reason):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    code, said = generate("--weights", str(tmp_path / name))
    assert code in {5, 7}
    assert reason in said


def test_weights_of_another_model_are_told(generate, tmp_path):
    path = tmp_path / "other.safetensors"
    save_file({"blocks.0.weight": torch.ones(4, 4)}, path)
    code, said = generate("--weights", str(path))
    assert code == 5
    assert "belongs to another model" in said

"""The cards of all LoRAs, usable or not, and of models."""

import base64

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import save_file

from mezzotint.errors import Cancelled
from mezzotint.families.lora.description import _data_url
from mezzotint.library.cards.methods import lora_cards, model_card

LAYER = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    for name in ("CONFIG", "CACHE"):
        monkeypatch.setenv(f"MEZZOTINT_{name}", str(tmp_path / name))
    return tmp_path


def write(path, **metadata):
    factors = {"lora_down.weight": np.zeros((2, 2048), np.float16), "lora_up.weight": np.zeros((640, 2), np.float16)}
    tensors = {f"{LAYER}.{part}": value for part, value in factors.items()}
    save_file(tensors, path, metadata={name.replace("__", "."): value for name, value in metadata.items()})
    return path


def test_layers_say_which_model_it_is_for_and_a_damaged_file_why_not(tmp_path):
    files = {
        "b": write(tmp_path / "b.safetensors", ss_base_model_version="wrong", modelspec__trigger_phrase="ink"),
        "A": tmp_path / "A.safetensors",
    }
    files["A"].write_bytes(b"no")
    (tmp_path / "A.preview.png").write_bytes(b"")
    broken, good = lora_cards(files)
    assert (good.name, good.base, good.trigger_words, good.problem) == ("b", "SDXL", ("ink",), "")
    assert good.families == ("sdxl",)
    assert good.bytes == files["b"].stat().st_size
    assert "not a model" in broken.problem
    assert broken.picture == str(tmp_path / "A.preview.png")
    with pytest.raises(Cancelled):
        lora_cards(files, lambda: True)


def test_metadata_say_it_if_the_layers_do_not(tmp_path):
    tensors = {"lora_down.weight": np.zeros((2, 99), np.float16), "lora_up.weight": np.zeros((9, 2), np.float16)}
    layer = {f"{LAYER}.{part}": value for part, value in tensors.items()}
    for name, said in (("a", {"ss_base_model_version": "sdxl_base_v1-0"}), ("b", {"modelspec.architecture": "x/lora"})):
        save_file(layer, tmp_path / f"{name}.safetensors", metadata=said)
    cards = lora_cards({name: tmp_path / f"{name}.safetensors" for name in "ab"})
    assert [one.families for one in cards] == [("sdxl",), ()]


@pytest.mark.parametrize("text", ["data:image/jpeg;base64,??", "data:text/html;base64,AAAA", "http://x/y.jpg", ""])
def test_no_other_thumbnail_in_metadata_is_taken(tmp_path, text):
    assert lora_cards({"x": write(tmp_path / "x.safetensors", modelspec__thumbnail=text)})[0].picture is None


def test_a_thumbnail_in_metadata_becomes_a_file_in_the_cache(tmp_path):
    url = _data_url(Image.new("RGB", (40, 20), "blue"))
    path = write(tmp_path / "x.safetensors", modelspec__thumbnail=url)
    for found in (lora_cards({"x": path})[0], model_card(path)):
        assert found.picture is not None and found.picture.startswith(str(tmp_path / "CACHE"))
        with open(found.picture, "rb") as file:
            assert file.read() == base64.b64decode(url.partition(",")[2])


def test_a_folder_has_a_card_too(tmp_path):
    (tmp_path / "sdxl").mkdir()
    (tmp_path / "sdxl.png").write_bytes(b"")
    found = model_card(tmp_path / "sdxl")
    assert (found.name, found.picture) == ("sdxl", str(tmp_path / "sdxl.png"))

"""Images by networks that were quantized as they were loaded, and by those that were kept: the same, bit for bit."""

import json
import os
import shutil
from dataclasses import dataclass

import pytest
from lora_files import kohya_tensors, random_lora, write_lora

from mezzotint.checkpoints.write import SafetensorsWriter
from mezzotint.cli import main
from mezzotint.families.loading import quantized_cache
from mezzotint.paths import cache_folder

pytestmark = pytest.mark.usefixtures("every_device")

SAID = (
    "a red house by the sea at dusk",
    "--steps",
    "2",
    "--seed",
    "5",
    "--size",
    "64x64",
    "--json",
    "--dtype",
    "float32",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallToo(quantized_cache.QuantizedCache):
    """Keeps networks of any size."""

    least_bytes: int = 0


@pytest.fixture
def model(tiny_sdxl_folder, tmp_path):
    """A copy of the small model that is not of this minute."""
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    for path in folder.rglob("*.safetensors"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


@pytest.fixture
def lora(tiny_sdxl_folder, tmp_path):
    from diffusers import UNet2DConditionModel

    network = UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet")
    return write_lora(tmp_path / "a.safetensors", kohya_tensors(random_lora({"unet": network}, r"attn2\.")))


@pytest.fixture
def kept(monkeypatch):
    """The cache keeps small networks too; gives its files."""
    monkeypatch.setattr("mezzotint.stages.models.loading.QuantizedCache", SmallToo)
    folder = cache_folder() / "quantized"
    return lambda: sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def result(capsys, tmp_path):
    def generate(model, *words):
        code = main(["generate", *SAID, "-m", str(model), "-o", f"{tmp_path}/images/", *map(str, words)])
        said = capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    return generate


@pytest.mark.slow
def test_with_and_without_it_the_image_is_the_same(model, result, kept):
    asked = ("--quant", "int8", "--quant-text", "int4")
    first = result(model, *asked)
    files = kept()
    assert len(files) == 3
    second = result(model, *asked)
    assert kept() == files
    for file in files:
        file.unlink()
    assert [each["images"][0]["sha256"] for each in (second, result(model, *asked))] == [
        first["images"][0]["sha256"]
    ] * 2
    assert first["notices"] == second["notices"] == []


@pytest.mark.slow
def test_loras_are_no_part_of_it(model, result, kept, lora):
    asked = ("--quant", "int8")
    with_lora = result(model, *asked, "--lora", lora)["images"][0]["sha256"]
    (entry,) = kept()
    plain = result(model, *asked)["images"][0]["sha256"]
    assert plain != with_lora == result(model, *asked, "--lora", lora)["images"][0]["sha256"]
    entry.unlink()
    assert result(model, *asked)["images"][0]["sha256"] == plain


@pytest.mark.slow
def test_a_full_disk_is_told_and_the_image_is_made(model, result, kept, monkeypatch):
    def add(self, name, tensor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SafetensorsWriter, "add", add)
    made = result(model, "--quant", "int8")
    assert len(made["images"]) == 1
    assert "No space left" in made["notices"][0]
    assert kept() == []


@pytest.mark.slow
def test_small_networks_are_not_kept(model, result):
    result(model, "--quant", "int8")
    assert not (cache_folder() / "quantized").exists()

"""LoRAs extracted from finetuned models in all forms that are read."""

import shutil

import pytest
import torch
from original_files import write, write_gguf, write_split
from safetensors.torch import load_file, save_file
from tiny_flux2 import original_names, split_files, write_tiny_klein
from tiny_z_image import split_files as split_z_image
from tiny_z_image import write_tiny_z_image
from written_loras import RANK, added, random_factors

from mezzotint.catalog import Catalog
from mezzotint.conversion.loras.extraction import extract_lora
from mezzotint.errors import Cancelled, ModelRefused, UsageError
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.lora.factors import read_factors
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, rows_for
from mezzotint.protocol import ModelRef


def sources(path):
    found = Catalog.standard().find(ModelRef(id=str(path)))
    return family_of(found.detected.family).sources(found.checkpoint, found.detected)


def extracted(tuned, base, output, rank=RANK, **how):
    return extract_lora(sources(tuned), sources(base), output, rank=rank, dtype=torch.float32, **how)


def tuned_folder(base, folder, component, change):
    """A copy of a model with the tensors of a component changed."""
    shutil.copytree(base, folder)
    (file,) = (folder / component).glob("*.safetensors")
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)
    return folder


def with_factors(factors):
    def change(tensors):
        for name, each in factors.items():
            tensors[f"{name}.weight"] += added(each).float()

    return change


def updates(path, base):
    """What each layer of a LoRA adds, by component and layer, as our reader applies it."""
    of = sources(base)
    networks = {name: empty_network(each) for name, each in of.components.items() if not name.startswith("tokenizer")}
    family = family_of(of.family)
    file = open_lora(path)
    found = fit(file, LayerIndex(networks, family.denoiser_component, getattr(family, "original", None)))
    assert not found.missing and not found.misshapen
    result = {}
    for layer, target in found.pairs:
        update = added(read_factors(file, layer, lambda: False)).reshape(-1, *target.shape[1:])
        select = rows_for(target)
        result[target.component, target.name] = update if select is None else select(update)
    return result


@pytest.fixture(scope="module")
def tuned(tiny_sdxl_folder, tmp_path_factory):
    """A tuned SDXL folder, and the factors that were added to U-Net and text encoder."""
    import diffusers

    unet = diffusers.UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet")
    factors = random_factors({"unet": unet})["unet"]
    folder = tuned_folder(tiny_sdxl_folder, tmp_path_factory.mktemp("tuned") / "tuned", "unet", with_factors(factors))
    return folder, factors


def test_a_known_difference_is_returned(tuned, tiny_sdxl_folder, tmp_path):
    folder, factors = tuned
    made = extracted(folder, tiny_sdxl_folder, tmp_path / "a.safetensors")
    assert made.kept > 1 - 1e-6 and made.layers == len(factors) and made.left_out == 0
    found = updates(tmp_path / "a.safetensors", tiny_sdxl_folder)
    assert found.keys() == {("unet", name) for name in factors}
    for name, each in factors.items():
        torch.testing.assert_close(found["unet", name], added(each), rtol=1e-3, atol=1e-4)


def test_a_folder_and_a_file(tuned, tiny_single_file, tiny_sdxl_folder, tmp_path):
    folder, factors = tuned
    seen = []
    made = extracted(folder, tiny_single_file, tmp_path / "a.safetensors", on_layer=lambda *each: seen.append(each))
    assert made.layers == len(factors) and [done for done, _ in seen] == list(range(1, seen[-1][1] + 1))
    for (_, name), each in updates(tmp_path / "a.safetensors", tiny_sdxl_folder).items():
        torch.testing.assert_close(each, added(factors[name]), rtol=1e-3, atol=1e-4)


def test_fused_layers_of_original_names(tmp_path):
    base = write_tiny_klein(tmp_path / "klein")
    names = ("transformer_blocks.0.attn.to_q", "transformer_blocks.0.attn.to_v", "norm_out.linear", "proj_out")
    (file,) = (base / "transformer").glob("*.safetensors")
    tensors = load_file(file)
    shift = {name: torch.randn(len(tensors[f"{name}.weight"]), 1) for name in names}
    for name, each in shift.items():
        tensors[f"{name}.weight"] += each
    files = split_files(base)
    single = write_split(tmp_path / "models", files | {next(iter(files)): original_names(tensors)})
    extracted(single, base, tmp_path / "a.safetensors", rank=1)
    found = updates(tmp_path / "a.safetensors", base)
    for name, each in shift.items():
        wanted = each.double().expand_as(tensors[f"{name}.weight"])
        torch.testing.assert_close(found["transformer", name], wanted, rtol=1e-4, atol=1e-4)


def test_a_quantized_gguf(tmp_path):
    base = write_tiny_z_image(tmp_path / "base")
    files = split_z_image(base)
    (name, tensors), *others = files.items()
    changed = {key: each + 0.1 * torch.randn(each.shape) if key.startswith("layers.1.att") else each
               for key, each in tensors.items()}  # fmt: skip
    plain = write_gguf(tmp_path / "models" / name.replace("safetensors", "gguf"), changed, "Q8_0", "lumina2")
    for other, each in others:
        write(tmp_path / "models" / other, each)
    tuned = tmp_path / "models" / name.replace("safetensors", "gguf")
    made = extracted(tuned, base, tmp_path / "a.safetensors", rank=48, device=torch.device("cpu"))
    found = updates(tmp_path / "a.safetensors", base)
    assert ("transformer", "layers.1.attention.to_v") in found and made.layers > 3  # others are rounded by the format
    update = plain["layers.1.attention.qkv.weight"] - tensors["layers.1.attention.qkv.weight"]
    for part, wanted in zip("qkv", update.chunk(3), strict=True):
        each = found["transformer", f"layers.1.attention.to_{part}"]
        torch.testing.assert_close(each, wanted.double(), rtol=1e-3, atol=1e-4)


def test_text_encoders_and_what_no_lora_can_change(tiny_sdxl_folder, tmp_path):
    def change(tensors):
        name = next(name for name in tensors if name.endswith("mlp.fc1.weight"))
        tensors[name] += torch.outer(torch.randn(len(tensors[name])), torch.randn(tensors[name].shape[1]))
        for norm in [name for name in tensors if "final_layer_norm" in name]:
            tensors[norm] += 1

    tuned = tuned_folder(tiny_sdxl_folder, tmp_path / "tuned", "text_encoder", change)
    made = extracted(tuned, tiny_sdxl_folder, tmp_path / "a.safetensors", rank=1)
    assert (made.layers, made.left_out) == (1, 2) and made.kept > 1 - 1e-6
    ((component, name),) = updates(tmp_path / "a.safetensors", tiny_sdxl_folder)
    assert component == "text_encoder" and name.endswith("mlp.fc1")


def test_a_lower_rank_keeps_a_share(tuned, tiny_sdxl_folder, tmp_path):
    made = extracted(tuned[0], tiny_sdxl_folder, tmp_path / "a.safetensors", rank=1)
    assert 0.3 < made.kept < 0.9 and made.highest_rank == 1


def test_what_cannot_be(tuned, tiny_sdxl_folder, tiny_pixart_folder, tiny_refiner_folder, tmp_path):
    output = tmp_path / "a.safetensors"
    with pytest.raises(UsageError, match="is of the family pixart, .* of sdxl"):
        extracted(tiny_pixart_folder, tiny_sdxl_folder, output)
    with pytest.raises(ModelRefused, match="models of different kinds"):
        extracted(tiny_refiner_folder, tiny_sdxl_folder, output)
    with pytest.raises(ModelRefused, match="have the same weights"):
        extracted(tiny_sdxl_folder, tiny_sdxl_folder, output)
    with pytest.raises(Cancelled):
        extracted(tuned[0], tiny_sdxl_folder, output, cancelled=lambda: True)

    def spoil(tensors):
        tensors["conv_in.weight"][0] = torch.nan

    with pytest.raises(ModelRefused, match="conv_in of unet holds numbers that are not finite"):
        extracted(tuned_folder(tiny_sdxl_folder, tmp_path / "nan", "unet", spoil), tiny_sdxl_folder, output)
    assert not output.exists()
    output.touch()
    with pytest.raises(UsageError, match="exists already"):
        extracted(tuned[0], tiny_sdxl_folder, output)

"""Networks quantized further where they lie."""

import torch
from lora_files import kohya_tensors, random_lora, write_lora

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.lowering import lower_precision
from mezzotint.families.loading.networks import load_components
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit
from mezzotint.quantization.layers import quantized_layers
from mezzotint.quantization.policy import Choice

CPU = torch.device("cpu")


def load(folder, choices=None, from_disk=()):
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(
        sources=sources,
        device=CPU,
        dtype=torch.float32,
        quantization=choices or {},
        from_disk=frozenset(from_disk),
    )
    load_components(model, ["unet"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    return model


def states(network):
    return dict(network.state_dict())


def test_the_same_as_if_it_had_been_loaded_so(tiny_sdxl_folder):
    lowered, wanted = load(tiny_sdxl_folder), load(tiny_sdxl_folder, {"unet": Choice(scheme="int8")})
    assert lower_precision(lowered, "unet") == "int8" and lowered.lowered
    mine, theirs = states(lowered.networks["unet"]), states(wanted.networks["unet"])
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_the_end_of_the_ladder(tiny_sdxl_folder):
    model = load(tiny_sdxl_folder, {"unet": Choice(scheme="int8")})
    assert lower_precision(model, "unet") is None and not model.lowered  # too narrow for anything smaller
    assert any(True for _ in quantized_layers(model.networks["unet"]))


def test_what_stays_in_its_file_is_left_alone(tiny_sdxl_folder):
    model = load(tiny_sdxl_folder, from_disk={"unet"})
    assert lower_precision(model, "unet") is None


def test_loras_stay_on(tiny_sdxl_folder, tmp_path):
    model = load(tiny_sdxl_folder)
    network = model.networks["unet"]
    path = write_lora(tmp_path / "a.safetensors", kohya_tensors(random_lora({"unet": network}, r"attn1\.")))
    file = open_lora(path)
    one = FittingLora(file=file, fit=fit(file, LayerIndex(model.networks, "unet")))
    model.loras = Adapters(model.networks)
    model.loras.hold([one], lambda: False)
    model.loras.apply([(one, 0.8)])
    assert lower_precision(model, "unet") == "int8"
    branched = [layer for _, layer in quantized_layers(network) if layer.branches]
    assert branched and len(branched) == len(one.fit.pairs)

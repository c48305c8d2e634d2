"""What a LoRA file may hold, and each way in which it may not."""

import zipfile

import pytest
import torch
from lora_files import write_lora
from model_files import entry, raw

from mezzotint.errors import MezzotintError, ModelRefused, StorageError
from mezzotint.families.lora.file import LARGEST_RANK, open_lora

LAYER = "lora_unet_mid_block_attentions_0_transformer_blocks_0_attn2_to_k"


def proper(**more):
    tensors = {
        f"{LAYER}.lora_down.weight": torch.ones(4, 2048),
        f"{LAYER}.lora_up.weight": torch.ones(1280, 4),
        f"{LAYER}.alpha": torch.tensor(2.0),
    }
    return tensors | {name.replace("__", "."): tensor for name, tensor in more.items()}


def opened(tmp_path, tensors, metadata=None):
    return open_lora(write_lora(tmp_path / "a.safetensors", tensors, metadata))


def test_its_layers_by_name_and_shape(tmp_path):
    file = opened(tmp_path, proper())
    (layer,) = file.layers
    assert (layer.place, layer.rank, layer.shape) == ("denoiser", 4, (1280, 2048))
    assert layer.names == {
        "down": f"{LAYER}.lora_down.weight",
        "up": f"{LAYER}.lora_up.weight",
        "alpha": f"{LAYER}.alpha",
    }
    assert file.base is not None and (file.base.words, file.base.families) == ("SDXL", ("sdxl",))
    assert file.unknown == () and file.alphas == {}


@pytest.mark.parametrize(
    ("down", "up", "shape", "fitting", "unfitting"),
    [
        ((4, 8), (6, 4), (6, 8), [(6, 8), (6, 8, 1, 1)], [(6, 8, 3, 3), (8, 6)]),
        ((4, 8, 1, 1), (6, 4, 1, 1), (6, 8, 1, 1), [(6, 8), (6, 8, 1, 1)], [(6, 8, 3, 3)]),
        ((4, 8, 3, 3), (6, 4, 1, 1), (6, 8, 3, 3), [(6, 8, 3, 3)], [(6, 8), (6, 8, 1, 1), (6, 72)]),
    ],
)
def test_linear_layers_and_convolutions_of_one_pixel_are_written_alike(tmp_path, down, up, shape, fitting, unfitting):
    tensors = {"unet.x.lora_A.weight": torch.ones(down), "unet.x.lora_B.weight": torch.ones(up)}
    (layer,) = opened(tmp_path, tensors).layers
    assert layer.shape == shape
    assert all(layer.fits(one) for one in fitting) and not any(layer.fits(one) for one in unfitting)


def test_what_has_no_known_meaning_is_listed(tmp_path):
    file = opened(tmp_path, proper(bundle_emb__word__clip_g=torch.ones(2, 1280), lora_unet_lonely__alpha=torch.ones(1)))
    assert set(file.unknown) == {"bundle_emb.word.clip_g", "lora_unet_lonely.alpha"}


def test_what_can_be_applied_is_used_and_the_rest_is_listed(tmp_path):
    others = {"te.e.lora_embedding_A": torch.ones(4, 4), f"{LAYER}.set_weight": torch.ones(2, 2)}
    file = opened(tmp_path, proper() | {"lora_unet_norm.w_norm": torch.ones(4)} | others)
    assert [layer.layer for layer in file.layers] == [LAYER.removeprefix("lora_unet_")]
    assert [(each.layer, each.parameter, each.shape) for each in file.differences] == [("norm", "weight", (4,))]
    assert set(file.unknown) == set(others)


REFUSED = {
    "GLoRA": ({f"{LAYER}.a1.weight": torch.ones(2, 2)}, "a GLoRA"),
    "IA3": ({f"{LAYER}.on_input": torch.ones(1)}, r"an \(IA\)3"),
    "VeRA": ({"base_model.vera_A": torch.ones(2, 2)}, "a VeRA"),
    "embeddings": ({"text_encoder.e.lora_embedding_A": torch.ones(4, 4)}, "a LoRA of embeddings"),
    "control": (proper() | {"lora_controlnet": torch.ones(1)}, "a Control-LoRA"),
    "full": ({f"{LAYER}.set_weight": torch.ones(2, 2)}, "a file of whole weights"),
    "unknown scales": (
        {name: each.to(torch.float8_e5m2) for name, each in proper().items() if each.ndim > 1}
        | {f"{LAYER}.lora_down.scale_weight": torch.ones(1)},
        r"factors in 8 bits whose scale \('.*lora_down\.sc.*'\) is not known",
    ),
    "a VAE": ({"decoder.conv_in.weight": torch.ones(2, 2)}, "no LoRA but a VAE"),
    "a word": ({"clip_l": torch.ones(1, 768)}, "no LoRA but a textual-inversion embedding"),
    "no up": ({f"{LAYER}.lora_down.weight": torch.ones(4, 8)}, "no 'up' beside it"),
    "no down": ({f"{LAYER}.lora_up.weight": torch.ones(4, 8)}, "no 'down' beside it"),
    "ranks": (proper() | {f"{LAYER}.lora_up.weight": torch.ones(1280, 5)}, "do not fit together"),
    "a window of up": (proper() | {f"{LAYER}.lora_up.weight": torch.ones(1280, 4, 3, 3)}, "do not fit together"),
    "mid": (proper() | {f"{LAYER}.lora_mid.weight": torch.ones(3, 4, 3, 3)}, "do not fit together"),
    "flat mid": (proper() | {f"{LAYER}.lora_mid.weight": torch.ones(4, 4)}, "do not fit together"),
    "one side": (proper() | {f"{LAYER}.lora_down.weight": torch.ones(4)}, "2 or 4 sides"),
    "nothing": (proper() | {f"{LAYER}.lora_down.weight": torch.ones(4, 0)}, "2 or 4 sides"),
    "rank": (
        {"x.lora_A.weight": torch.ones(LARGEST_RANK + 1, 1), "x.lora_B.weight": torch.ones(1, 4097)},
        "a rank up to",
    ),
    "integers": (proper() | {f"{LAYER}.lora_down.weight": torch.ones(4, 8, dtype=torch.int8)}, "a LoRA is of F16"),
    "alphas": (proper() | {f"{LAYER}.alpha": torch.ones(2)}, "an alpha is one number"),
    "a false alpha": (proper() | {f"{LAYER}.alpha": torch.tensor(True)}, "an alpha is one number"),
    "two": (proper() | {LAYER.replace("lora_unet_", "unet.") + ".lora_A.weight": torch.ones(4, 8)}, "two LoRAs"),
}


@pytest.mark.parametrize(("tensors", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_applied_is_refused_by_name(tmp_path, tensors, message):
    with pytest.raises(ModelRefused, match=message) as caught:
        opened(tmp_path, tensors)
    assert "a.safetensors" in str(caught.value) and "\n" not in str(caught.value)


def test_a_pickle_is_refused_with_advice(tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(b"junk that no header begins with")
    with pytest.raises(ModelRefused, match="a pickle, which can run code when opened: convert it"):
        open_lora(path)
    with zipfile.ZipFile(tmp_path / "a.safetensors", "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(ModelRefused, match="PyTorch pickles"):
        open_lora(tmp_path / "a.safetensors")


def test_what_is_no_file_is_told(tmp_path):
    with pytest.raises(StorageError, match=r"none\.safetensors"):
        open_lora(tmp_path / "none.safetensors")
    with pytest.raises(MezzotintError, match="is a folder"):
        open_lora(tmp_path)


def test_a_file_that_lies_about_its_size_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    path.write_bytes(raw({f"{LAYER}.lora_down.weight": entry(0, 4 * 10**12, [10**6, 10**6])}, bytes(64)))
    with pytest.raises(ModelRefused, match="incomplete"):
        open_lora(path)

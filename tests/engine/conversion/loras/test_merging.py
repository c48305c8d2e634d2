"""LoRAs merged into one file: it adds what they add, and LoRAs that do not belong together are refused."""

import pytest
import torch
from lora_files import dotted_tensors, kohya_tensors, merge, oft_tensors, random_lora, write_lora
from torch import nn

from mezzotint.checkpoints.header import read_header
from mezzotint.conversion.loras.merging import merge_loras
from mezzotint.errors import Cancelled, ModelRefused, UsageError
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.Flatten(2), nn.Linear(16, 6), nn.GELU(), nn.Linear(6, 5))


X = torch.randn(2, 4, 4, 4, generator=torch.Generator().manual_seed(3))


def applied(*weighted):
    """The output of the network with these files."""
    networks = {"unet": network()}
    index = LayerIndex(networks, "unet")
    loras = []
    for path, weight in weighted:
        file = open_lora(path)
        loras.append((FittingLora(file=file, fit=fit(file, index)), weight))
    adapters = Adapters(networks)
    adapters.hold([one for one, _ in loras], lambda: False)
    adapters.apply(loras)
    return networks["unet"](X)


@pytest.fixture
def two(tmp_path):
    """Two LoRAs of other ranks and alphas, and not of all the same layers."""
    networks = {"unet": network()}
    a = random_lora(networks, r"\.[02]$", rank=3, alpha=2.0)
    b = random_lora(networks, r"\.[24]$", rank=4, alpha=1.0, seed=2)
    return (
        (write_lora(tmp_path / "a.safetensors", kohya_tensors(a)), a),
        (write_lora(tmp_path / "b.safetensors", kohya_tensors(b)), b),
    )


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, -1.5), (0.0, 1.0), (0.0, 0.0)])
def test_both_in_one_file_add_what_both_add(two, weights, tmp_path):
    (a, in_a), (b, in_b) = two
    made = merge_loras([(a, weights[0]), (b, weights[1])], tmp_path / "ab.safetensors")
    together = applied((tmp_path / "ab.safetensors", 1.0))
    torch.testing.assert_close(together, applied((a, weights[0]), (b, weights[1])), rtol=1e-5, atol=1e-5)
    by_hand = {"unet": network()}
    for added, weight in ((in_a, weights[0]), (in_b, weights[1])):
        merge(by_hand, added, weight)
    torch.testing.assert_close(together, by_hand["unet"](X), rtol=1e-5, atol=1e-5)
    assert made.layers == 3 and made.kept == 1 and made.highest_rank == (7 if all(weights) else 4)


def test_names_without_alpha_stay_without(tmp_path):
    networks = {"unet": network()}
    paths = [
        write_lora(tmp_path / f"{seed}.safetensors", dotted_tensors(random_lora(networks, ".", seed=seed, alpha=3.0)))
        for seed in (1, 2)
    ]
    merge_loras([(paths[0], 0.3), (paths[1], 2.0)], tmp_path / "ab.safetensors")
    assert not [name for name in read_header(tmp_path / "ab.safetensors").tensors if "alpha" in name]
    together = applied((tmp_path / "ab.safetensors", 1.0))
    torch.testing.assert_close(together, applied((paths[0], 0.3), (paths[1], 2.0)), rtol=1e-5, atol=1e-5)


def test_alphas_told_by_metadata_are_in_the_factors_afterwards(tmp_path):
    networks = {"unet": network()}
    told = {"lora_adapter_metadata": '{"unet.lora_alpha": 6, "unet.r": 3}'}
    a = write_lora(tmp_path / "a.safetensors", dotted_tensors(random_lora(networks, ".")), told)
    merge_loras([(a, 1.0), (a, 1.0)], tmp_path / "aa.safetensors")
    torch.testing.assert_close(applied((tmp_path / "aa.safetensors", 0.5)), applied((a, 1.0)), rtol=1e-5, atol=1e-5)


def test_of_a_lower_rank(two, tmp_path):
    (a, _), (b, _) = two
    made = merge_loras([(a, 1.0), (b, 1.0)], tmp_path / "ab.safetensors", rank=2)
    assert (made.lowest_rank, made.highest_rank) == (2, 2) and 0.3 < made.kept < 1
    whole = merge_loras([(a, 1.0), (b, 1.0)], tmp_path / "all.safetensors", rank=7)
    assert whole.kept > 1 - 1e-9
    both = applied((a, 1.0), (b, 1.0))
    torch.testing.assert_close(applied((tmp_path / "all.safetensors", 1.0)), both, rtol=1e-4, atol=1e-4)


def test_formats(two, tmp_path):
    (a, added), (b, _) = two
    half = write_lora(tmp_path / "h.safetensors", {name: each.half() for name, each in kohya_tensors(added).items()})

    def dtypes(*paths, **how):
        (tmp_path / "x.safetensors").unlink(missing_ok=True)
        merge_loras([(path, 1.0) for path in paths], tmp_path / "x.safetensors", **how)
        return {each.dtype for each in read_header(tmp_path / "x.safetensors").tensors.values() if each.shape}

    assert dtypes(half, half) == {"F16"} and dtypes(half, b) == {"F32"}
    assert dtypes(a, b, dtype=torch.bfloat16) == {"BF16"}


def test_metadata_of_both_without_their_datasets(tmp_path):
    added = kohya_tensors(random_lora({"unet": network()}, "."))
    for name in "ab":
        about = {
            "ss_base_model_version": "sdxl_base_v1-0",
            "ss_tag_frequency": "{}",
            "modelspec.title": name,
            "modelspec.trigger_phrase": f"a {name}",
        }
        write_lora(tmp_path / f"{name}.safetensors", added, about)
    merge_loras([(tmp_path / f"{name}.safetensors", 1.0) for name in "ab"], tmp_path / "both.safetensors")
    assert read_header(tmp_path / "both.safetensors").metadata == {
        "ss_base_model_version": "sdxl_base_v1-0",
        "ss_network_module": "networks.lora",
        "ss_network_dim": "6",
        "ss_network_alpha": "4",
        "modelspec.title": "both",
        "modelspec.trigger_phrase": "a a, a b",
        "modelspec.merged_from": "a, b",
    }


def key(name, rows=6, columns=5):
    stem = f"lora_unet_{name}"
    return {f"{stem}.lora_down.weight": torch.ones(2, columns), f"{stem}.lora_up.weight": torch.ones(rows, 2)}


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (key("x"), key("x", rows=7), r"different models: their 'x' is for weights of shape \(7, 5\) and \(6, 5\)"),
        (key("input_blocks_1_1_proj_in"), key("down_blocks_0_attentions_0_proj_in"), "name the same layers different"),
        (key("layers_0_attention_qkv", 18), key("layers_0_attention_to_q"), "name the same layers differently"),
        (
            key("double_blocks_0_img_mod_lin"),
            key("mid_block_attentions_0_transformer_blocks_0_attn2_to_k", columns=2048),
            "seems to be for FLUX, .*b.safetensors for SDXL",
        ),
        (key("x"), {"lora_unet_x.hada_w1_a": torch.ones(6, 2), "lora_unet_x.hada_w1_b": torch.ones(2, 5),
                    "lora_unet_x.hada_w2_a": torch.ones(6, 2), "lora_unet_x.hada_w2_b": torch.ones(2, 5)},
         "'x' is a LoHa; only plain LoRAs"),
        (key("x"), {"lora_unet_x.lokr_w1": torch.ones(2, 1), "lora_unet_x.lokr_w2": torch.ones(3, 5)}, "is a LoKr"),
        (key("x"), key("x") | {"lora_unet_x.dora_scale": torch.ones(6, 1)}, "is a DoRA"),
        (key("x"), key("x") | {"mystery": torch.ones(1)}, "1 of its tensors are of an unknown kind, such as 'mystery'"),
        (key("x"), {name: each * torch.nan for name, each in key("x").items()}, "not finite"),
    ],
)  # fmt: skip
def test_what_does_not_belong_together(tmp_path, first, second, reason):
    paths = [write_lora(tmp_path / "a.safetensors", first), write_lora(tmp_path / "b.safetensors", second)]
    with pytest.raises(ModelRefused, match=reason):
        merge_loras([(path, 1.0) for path in paths], tmp_path / "ab.safetensors")
    assert not (tmp_path / "ab.safetensors").exists()


def test_an_oft_is_refused(tmp_path):
    path = write_lora(tmp_path / "a.safetensors", oft_tensors({"unet": network()}, r"\.0$", "outputs"))
    with pytest.raises(ModelRefused, match="is an OFT"):
        merge_loras([(path, 1.0)], tmp_path / "b.safetensors")


def test_pickles_are_refused_and_nothing_is_replaced(two, tmp_path):
    (tmp_path / "a.ckpt").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(ModelRefused, match="pickle"):
        merge_loras([(tmp_path / "a.ckpt", 1.0)], tmp_path / "c.safetensors")
    (a, _), (b, _) = two
    before = b.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        merge_loras([(a, 1.0), (b, 1.0)], b)
    assert b.read_bytes() == before


def test_a_rank_that_no_reader_takes(tmp_path):
    tensors = {"unet.x.lora_A.weight": torch.ones(2100, 2), "unet.x.lora_B.weight": torch.ones(2, 2100)}
    path = write_lora(tmp_path / "a.safetensors", tensors)
    with pytest.raises(ModelRefused, match="rank 4200.*give --rank"):
        merge_loras([(path, 1.0), (path, 1.0)], tmp_path / "b.safetensors")
    assert merge_loras([(path, 1.0), (path, 1.0)], tmp_path / "b.safetensors", rank=8).highest_rank == 2


def test_it_can_be_stopped_and_tells_its_progress(two, tmp_path):
    (a, _), (b, _) = two
    with pytest.raises(Cancelled):
        merge_loras([(a, 1.0), (b, 1.0)], tmp_path / "ab.safetensors", cancelled=lambda: True)
    seen = []
    merge_loras([(a, 1.0), (b, 1.0)], tmp_path / "ab.safetensors", on_layer=lambda *each: seen.append(each))
    assert seen == [(1, 3), (2, 3), (3, 3)]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.programs import flat_json
from mezzotint.images.programs.flat_json import (
    is_fooocus,
    is_swarmui,
    metadata_of_fooocus,
    metadata_of_invokeai,
    metadata_of_swarmui,
)
from mezzotint.protocol import LoraNamed

INVOKEAI = {
    "generation_mode": "sdxl_txt2img",
    "positive_prompt": "a red house",
    "negative_prompt": "",
    "width": 1024,
    "height": 768,
    "seed": 3241,
    "rand_device": "cpu",
    "cfg_scale": 5.5,
    "steps": 30,
    "scheduler": "dpmpp_2m_sde_k",
    "model": {"key": "k", "hash": "blake3:abc", "name": "Juggernaut", "base": "sdxl", "type": "main"},
    "loras": [{"model": {"name": "style"}, "weight": 0.7}],
    "strength": 0.3,
    "app_version": "6.1.0",
}
SWARMUI: dict[str, dict[str, object]] = {
    "sui_image_params": {
        "prompt": "a red house",
        "negativeprompt": "blurry",
        "model": "sd_xl_base_1.0",
        "seed": 5,
        "steps": 20,
        "cfgscale": 7.0,
        "width": 1024,
        "height": 768,
        "sampler": "euler_ancestral",
        "scheduler": "karras",
        "initimagecreativity": 0.6,
        "swarm_version": "0.9.7",
    },
    "sui_extra_data": {"date": "2026-11-01"},
    "sui_models": [
        {"name": "vae", "param": "vae", "hash": "0xff"},
        {"name": "sd_xl_base_1.0.safetensors", "param": "model", "hash": "0xabc"},
    ],
}
FOOOCUS = {
    "prompt": "a red house",
    "negative_prompt": "",
    "resolution": "(1152, 896)",
    "seed": "1234567890123456789",
    "steps": 30,
    "sampler": "dpmpp_2m_sde_gpu",
    "scheduler": "karras",
    "guidance_scale": 4,
    "base_model": "juggernautXL",
    "base_model_hash": "aeb7e9e689",
    "refiner_model": "None",
    "version": "Fooocus v2.5.5",
}


def test_invokeai() -> None:
    found = metadata_of_invokeai(INVOKEAI)
    assert (found.program, found.prompt, found.negative_prompt) == ("invokeai", "a red house", "")
    assert (found.width, found.height, found.seed, found.steps) == (1024, 768, 3241, 30)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("dpmpp_2m_sde", "karras", 5.5)
    assert (found.model, found.model_hash, found.strength) == ("Juggernaut", "blake3:abc", 0.3)
    assert found.other["rand_device"] == "cpu" and "style" in found.other["loras"]


def test_swarmui() -> None:
    assert is_swarmui(SWARMUI) and not is_fooocus(SWARMUI)
    found = metadata_of_swarmui(SWARMUI)
    assert (found.program, found.prompt, found.negative_prompt) == ("swarmui", "a red house", "blurry")
    assert (found.width, found.height, found.seed, found.steps) == (1024, 768, 5, 20)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("euler_a", "karras", 7.0)
    assert (found.model, found.model_hash, found.strength) == ("sd_xl_base_1.0", "0xabc", 0.6)
    assert found.other == {"swarm_version": "0.9.7"}


def test_fooocus() -> None:
    assert is_fooocus(FOOOCUS) and not is_swarmui(FOOOCUS)
    found = metadata_of_fooocus(FOOOCUS)
    assert (found.program, found.prompt, found.seed) == ("fooocus", "a red house", 1234567890123456789)
    assert (found.width, found.height, found.steps) == (1152, 896, 30)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("dpmpp_2m_sde", "karras", 4.0)
    assert (found.model, found.model_hash) == ("juggernautXL", "aeb7e9e689")
    assert found.other["version"] == "Fooocus v2.5.5"


def test_invokeai_of_flux_with_refiner_and_loras_of_an_older_version() -> None:
    data = INVOKEAI | {"guidance": 3.5, "cfg_scale": 1, "clip_skip": 2, "refiner_start": 0.7}
    data |= {
        "refiner_model": {"model_name": "xl-refiner"},
        "loras": [{"lora": {"model_name": "old"}, "weight": 0.4}, 7],
    }
    found = metadata_of_invokeai(data)
    assert (found.guidance_scale, found.distilled_guidance_scale, found.clip_skip) == (1.0, 3.5, 2)
    assert (found.refiner, found.refiner_at) == ("xl-refiner", 0.7)
    assert found.loras == (LoraNamed(name="old", weight=0.4),)


def test_swarmui_of_flux_with_refiner_and_loras() -> None:
    more: dict[str, object] = {"fluxguidancescale": 3.0, "clipstopatlayer": -2, "refinermodel": "r.safetensors"}
    more |= {"refinercontrolpercentage": 0.25, "loras": "one, two", "loraweights": ["0.5"]}
    found = metadata_of_swarmui({"sui_image_params": SWARMUI["sui_image_params"] | more})
    assert (found.distilled_guidance_scale, found.clip_skip) == (3.0, 1)
    assert (found.refiner, found.refiner_at) == ("r.safetensors", 0.75)
    assert found.loras == (LoraNamed(name="one", weight=0.5), LoraNamed(name="two"))


def test_fooocus_with_refiner_and_loras_in_both_forms() -> None:
    more = {"refiner_model": "r.safetensors", "refiner_switch": 0.5, "clip_skip": 2, "lora_combined_1": "b : 0.2"}
    found = metadata_of_fooocus(FOOOCUS | more | {"loras": [["a.safetensors", 0.1, "abc"], [3, 4]]})
    assert (found.refiner, found.refiner_at, found.clip_skip) == ("r.safetensors", 0.5, 1)
    assert found.loras == (LoraNamed(name="a.safetensors", weight=0.1), LoraNamed(name="b", weight=0.2))
    assert metadata_of_fooocus(FOOOCUS).refiner is None
    assert set(found.other) == {"version", "loras"}


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
junk = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=6)
known = st.sampled_from(sorted({*INVOKEAI, *SWARMUI, *SWARMUI["sui_image_params"], *FOOOCUS}))


@pytest.mark.parametrize("name", ["metadata_of_invokeai", "metadata_of_swarmui", "metadata_of_fooocus"])
@given(data=st.dictionaries(known, junk))
def test_any_values_are_survived(name: str, data: dict[str, object]) -> None:
    found = getattr(flat_json, name)(data)
    assert found.request is None
    assert all(isinstance(value, str) for value in found.other.values())

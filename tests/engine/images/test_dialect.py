import pytest

from mezzotint.images.dialect import (
    from_a1111,
    from_a1111_upscaler,
    from_comfyui,
    from_invokeai,
    from_novelai,
    lora_tags,
    our_names,
)
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_both_forms_of_a1111_are_ours(sampler: str, schedule: str) -> None:
    shown, kind = SAMPLERS[sampler], SCHEDULES[schedule]
    assert from_a1111(shown, kind) == (sampler, schedule)
    assert from_a1111(f"{shown} {kind}", None) == (sampler, schedule)
    assert from_a1111(shown.lower(), kind.upper()) == (sampler, schedule)


def test_names_that_we_lack_stay() -> None:
    assert from_a1111("DPM++ SDE Karras", None) == ("DPM++ SDE", "karras")
    assert from_a1111("Restart", "Align Your Steps") == ("Restart", "Align Your Steps")
    assert from_a1111("Karras", None) == ("Karras", None)
    assert from_a1111(None, None) == (None, None)


def test_uniform_is_comfyuis_normal() -> None:
    assert from_a1111("Euler", "Uniform") == ("euler", "normal")
    assert our_names("Euler a", "Simple") == our_names("euler_ancestral", "simple") == ("euler_a", "simple")
    assert our_names("uni_pc_bh2", "kl_optimal") == ("unipc", "kl_optimal")


def test_automatic_says_nothing() -> None:
    assert from_a1111("Euler", "Automatic") == ("euler", None)


def test_comfyui_and_invokeai() -> None:
    assert from_comfyui("euler_ancestral", "karras") == ("euler_a", "karras")
    assert from_comfyui("uni_pc", "normal") == ("unipc", "normal")
    assert from_comfyui("dpmpp_2m", "sgm_uniform") == ("dpmpp_2m", "sgm_uniform")
    assert from_invokeai("dpmpp_2m_k") == ("dpmpp_2m", "karras")
    assert from_invokeai("kdpm_2") == ("kdpm_2", None)
    assert from_invokeai(None) == (None, None)


def test_samplers_of_novelai_and_of_early_versions_of_others() -> None:
    assert from_novelai("k_euler_ancestral", "karras") == ("euler_a", "karras")
    assert from_novelai(None, "native") == (None, None)
    assert from_invokeai("k_dpmpp_2") == ("dpmpp_2m", None)
    assert from_comfyui("sample_euler_ancestral", "normal") == ("euler_a", "normal")
    assert from_comfyui(None, "simple") == (None, "simple")


def test_upscalers_of_the_second_pass() -> None:
    assert from_a1111_upscaler(None) == (None, None)
    assert from_a1111_upscaler("Latent (bicubic)") == ("latent", "bicubic")
    assert from_a1111_upscaler("4x-UltraSharp") == (None, "4x-UltraSharp")


def test_lora_tags_of_a_prompt() -> None:
    found = lora_tags("a <lora:one:0.5> <lyco: two > (<lora:three:x:1>) <lora::1> <hypernet:four:1>")
    assert [(lora.name, lora.weight) for lora in found] == [("one", 0.5), ("two", 1.0), ("three", 1.0)]

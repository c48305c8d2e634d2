from collections.abc import Callable
from dataclasses import replace

import pytest

from mezzotint.images.a1111 import infotext_of, metadata_of
from mezzotint.images.infotext import Infotext, parse_infotext, write_infotext
from mezzotint.images.record import ImageRecord
from mezzotint.protocol import ControlUsed, FileUsed, Inpaint, LoraNamed, LoraUsed, ResolvedTransition

MakeRecord = Callable[..., ImageRecord]


def test_keys_are_in_a1111s_order(make_record: MakeRecord) -> None:
    assert list(infotext_of(make_record()).settings.items()) == [
        ("Steps", "20"),
        ("Sampler", "DPM++ 2M"),
        ("Schedule type", "Karras"),
        ("CFG scale", "7.5"),
        ("Seed", "965400086"),
        ("Size", "48x32"),
        ("Model hash", "0123456789"),
        ("Model", "sd_xl_base_1.0"),
        ("Version", "mezzotint 0.1.0"),
    ]


def test_what_we_write_reads_back(make_record: MakeRecord) -> None:
    record = make_record(prompt="a, b: c", negative_prompt="d")
    info = parse_infotext(write_infotext(infotext_of(record)))
    assert info is not None
    found = metadata_of(info)
    assert (found.program, found.prompt, found.negative_prompt) == ("mezzotint", "a, b: c", "d")
    assert (found.width, found.height, found.seed, found.steps) == (48, 32, 965400086, 20)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("dpmpp_2m", "karras", 7.5)
    assert (found.model, found.model_hash) == ("sd_xl_base_1.0", "0123456789")


def test_names_without_a_word_in_a1111_stay(make_record: MakeRecord) -> None:
    record = make_record()
    stage = replace(record.stages[0], sampler="strange", schedule="default", guidance_scale=7.0)
    settings = infotext_of(replace(record, stages=(stage,))).settings
    assert (settings["Sampler"], settings["Schedule type"], settings["CFG scale"]) == ("strange", "default", "7")


def test_a_folder_has_no_short_hash(make_record: MakeRecord) -> None:
    record = make_record()
    stage = record.stages[0]
    model = replace(stage.model, id="/models/starter", files=stage.model.files * 2)
    settings = infotext_of(replace(record, stages=(replace(stage, model=model),))).settings
    assert settings["Model"] == "starter" and "Model hash" not in settings


def test_a_cascade_is_told_in_a1111s_words(make_record: MakeRecord) -> None:
    record = make_record()
    base, asked = record.stages[0], record.request.cascade.stages[0]
    refiner = replace(base, model=replace(base.model, id="refiner"), clip_skip=0)
    cascade = replace(record.request.cascade, stages=(replace(asked, until=0.8), asked))
    hires = ResolvedTransition(space="latent", upscaler="bicubic", scale=1.5, strength=0.45)
    record = replace(
        record,
        stages=(replace(base, clip_skip=1), refiner),
        transitions=(hires,),
        request=replace(record.request, cascade=cascade),
    )
    settings = infotext_of(record).settings
    keys = list(settings)
    assert keys[keys.index("Model") + 1 :] == [
        "Denoising strength",
        "Clip skip",
        "Hires upscale",
        "Hires upscaler",
        "Refiner",
        "Refiner switch at",
        "Version",
    ]
    assert settings["Denoising strength"] == "0.45" and settings["Clip skip"] == "2"
    assert settings["Hires upscale"] == "1.5" and settings["Hires upscaler"] == "Latent (bicubic)"
    assert settings["Refiner"] == "refiner [0123456789]" and settings["Refiner switch at"] == "0.8"
    pixel = replace(record, transitions=(replace(hires, space="pixel", upscaler="lanczos"),))
    assert infotext_of(pixel).settings["Hires upscaler"] == "Lanczos"
    refined = replace(record, transitions=(replace(hires, strength=1.0, refines=True),))
    assert not {"Hires upscale", "Hires upscaler", "Denoising strength"} & set(infotext_of(refined).settings)
    same_size = replace(record, transitions=(replace(hires, scale=1.0), hires))
    assert infotext_of(same_size).settings["Hires upscale"] == "1.5"


def test_a_record_without_stages_still_names_seed_and_size(make_record: MakeRecord) -> None:
    settings = infotext_of(replace(make_record(), stages=())).settings
    assert settings == {"Seed": "965400086", "Size": "48x32", "Version": "mezzotint 0.1.0"}


def test_foreign_settings_go_to_other_and_are_cleaned() -> None:
    settings = {"Steps": "x", "Sampler": "Euler a", "Seed": "-1", "Size": "big", "Clip skip": "2", "Odd": "a\x1b[31mb"}
    found = metadata_of(Infotext(prompt="a\x07", negative_prompt="", settings=settings))
    assert found.program == "a1111" and found.prompt == "a"
    assert (found.steps, found.seed, found.width, found.height) == (None, -1, None, None)
    assert (found.clip_skip, found.other) == (1, {"Odd": "a[31mb"})


def _lora(path: str, weight: float, digest: str) -> LoraUsed:
    return LoraUsed(file=FileUsed(path=path, sha256="f" * 64, bytes=1), weight=weight, tensors_sha256=digest * 64)


def test_every_setting_of_the_second_pass_refiner_and_mask_is_read() -> None:
    info = parse_infotext(
        "a <lora:style:0.5:0.7> house <lyco:other>\nSteps: 20, Sampler: Euler, CFG scale: 1, Distilled CFG Scale: 3.5, "
        "Seed: 5, Size: 64x96, Clip skip: 2, Denoising strength: 0.4, Hires upscale: 1.5, Hires steps: 10, "
        "Hires upscaler: Latent, Refiner: bar_xl [abc123], Refiner switch at: 0.8, Mask blur: 3, "
        "Inpaint area: Only masked, Masked area padding: 16, Masked content: fill, Version: f2.0"
    )
    assert info is not None
    found = metadata_of(info)
    assert (found.guidance_scale, found.distilled_guidance_scale, found.clip_skip) == (1.0, 3.5, 1)
    assert (found.hires_scale, found.hires_steps) == (1.5, 10)
    assert (found.hires_space, found.hires_upscaler) == ("latent", "bilinear")
    assert (found.refiner, found.refiner_at, found.strength) == ("bar_xl", 0.8, 0.4)
    assert found.loras == (LoraNamed(name="style", weight=0.5), LoraNamed(name="other", weight=1.0))
    assert found.inpaint == Inpaint(area="masked", padding=16, feather=3, fill="blur")
    assert found.other == {"Version": "f2.0"}


@pytest.mark.parametrize("odd", ["Mask blur: x", "Masked area padding: much", "Masked content: latent nothing"])
def test_a_mask_setting_that_is_not_ours_leaves_all_to_be_named(odd: str) -> None:
    name, _, value = odd.partition(": ")
    found = metadata_of(
        Infotext(prompt="a", negative_prompt="", settings={"Inpaint area": "Whole picture"} | {name: value})
    )
    assert found.inpaint is None and set(found.other) == {"Inpaint area", name}


def test_distilled_guidance_is_written_as_forge_writes_it(make_record: MakeRecord) -> None:
    record = make_record()
    stage = replace(record.stages[0], guidance_scale=3.5, true_cfg_scale=1.0)
    info = infotext_of(replace(record, stages=(stage,)))
    assert (info.settings["CFG scale"], info.settings["Distilled CFG Scale"]) == ("1", "3.5")
    assert "Distilled CFG Scale" not in infotext_of(record).settings


def test_what_is_no_setting_is_kept_for_the_reader() -> None:
    info = Infotext(prompt="a", negative_prompt="", settings={"Seed": "5"}, unread=("by somebody", "free words"))
    assert metadata_of(info).other == {"unread": "by somebody; free words"}


def test_loras_are_tags_and_hashes_as_a1111_writes_them(make_record: MakeRecord) -> None:
    record = make_record(prompt="a castle")
    ink, fog = _lora("/l/ink.safetensors", 0.8, "a"), _lora("C:\\l\\fog, <old>:2.safetensors", -1.0, "b")
    stage = replace(record.stages[0], loras=(ink, fog))
    info = infotext_of(replace(record, stages=(stage, replace(stage, loras=(ink,)))))
    assert info.prompt == "a castle <lora:ink:0.8> <lora:fog old2:-1>"
    assert info.settings["Lora hashes"] == "ink: aaaaaaaaaaaa, fog old2: bbbbbbbbbbbb"
    assert list(info.settings)[-2:] == ["Lora hashes", "Version"]
    assert parse_infotext(write_infotext(info)) == info


def test_control_images_are_written_as_the_extension_of_a1111_does(make_record: MakeRecord) -> None:
    record, file = make_record(), FileUsed(path="C:\\nets\\canny.safetensors", sha256="f" * 64, bytes=1)
    used = ControlUsed(file=file, image=file, weight=0.8, start=0.0, end=0.6, type=None, preprocess="canny")
    stage = replace(record.stages[0], controls=(used, replace(used, weight=1.0)))
    info = infotext_of(replace(record, stages=(stage, stage)))
    assert info.settings["ControlNet 0"] == (
        "Module: canny, Model: canny, Weight: 0.8, Guidance Start: 0, Guidance End: 0.6"
    )
    assert "Weight: 1," in info.settings["ControlNet 1"] and "ControlNet 2" not in info.settings
    assert parse_infotext(write_infotext(info)) == info


@pytest.mark.parametrize(
    ("inpaint", "told"),
    [
        (None, {}),
        (Inpaint(), {"Mask blur": "8"}),
        (Inpaint(feather=0, fill="blur"), {"Masked content": "fill"}),
        (Inpaint(feather=0, fill="noise", right=8), {"Masked content": "latent noise"}),
        (
            Inpaint(area="masked", padding=9),
            {"Mask blur": "8", "Inpaint area": "Only masked", "Masked area padding": "9"},
        ),
    ],
)
def test_inpainting_is_told_in_a1111s_words(make_record: MakeRecord, inpaint: Inpaint | None, told: dict) -> None:
    plain, settings = infotext_of(make_record()).settings, infotext_of(make_record(inpaint=inpaint)).settings
    assert settings.items() - plain.items() == told.items() and plain.items() <= settings.items()
    info = infotext_of(make_record(inpaint=inpaint))
    assert info.settings.items() >= told.items()
    assert metadata_of(info).inpaint == (replace(inpaint, right=0) if inpaint is not None else None)


def test_a_variation_is_written_and_read(make_record: MakeRecord) -> None:
    record = make_record()
    stage = replace(record.stages[0], variation_seed=9, variation_strength=0.25)
    info = parse_infotext(write_infotext(infotext_of(replace(record, stages=(stage,)))))
    assert info is not None
    assert (info.settings["Variation seed"], info.settings["Variation seed strength"]) == ("9", "0.25")
    found = metadata_of(info)
    assert (found.variation_seed, found.variation_strength) == (9, 0.25)
    assert not {"Variation seed", "Variation seed strength"} & set(found.other)

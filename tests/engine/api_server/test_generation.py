"""A1111's requests as options."""

import base64
from pathlib import Path

import pytest
from api_made import in_base64
from fake_engine import model_info
from hypothesis import given
from hypothesis import strategies as some
from PIL import Image

from mezzotint.api_server import lists
from mezzotint.api_server.fields import Fields
from mezzotint.api_server.generation import Offers, read_generation
from mezzotint.api_server.refusal import Refusal
from mezzotint.batch.job.settings import request_of
from mezzotint.control_protocol import ControlRef
from mezzotint.library.styles.store import save_style
from mezzotint.library_protocol import Style
from mezzotint.protocol import LoraRef
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES

MODELS = (model_info(), model_info(id="xl", path="/models/sdxl_base.safetensors"))
OFFERS = Offers(
    models=lambda: MODELS,
    loras=lambda: {"Style": Path("/l/Style.safetensors")},
    checkpoint="starter/dit",
    clip_skip=1,
    upscalers=lambda: ("starter-2x", "4x-Sharp"),
    controlnets=lambda: {"canny-xl": Path("/c/canny-xl.safetensors")},
)
PICTURE = in_base64(Image.new("RGB", (8, 8)))
# As webuiapi 0.9 sends them with every request.
DEFAULTS = {
    "enable_hr": False, "hr_scale": 2, "hr_upscaler": "Latent", "hr_second_pass_steps": 0, "hr_resize_x": 0,
    "hr_resize_y": 0, "hr_checkpoint_name": None, "hr_sampler_name": None, "hr_scheduler": None, "hr_prompt": "",
    "hr_negative_prompt": "", "denoising_strength": 0.7, "firstphase_width": 0, "firstphase_height": 0, "styles": [],
    "seed": -1, "subseed": -1, "subseed_strength": 0.0, "seed_resize_from_h": 0, "seed_resize_from_w": 0,
    "batch_size": 1, "n_iter": 1, "restore_faces": False, "tiling": False, "do_not_save_samples": False,
    "do_not_save_grid": False, "eta": 1.0, "s_churn": 0, "s_tmax": 0, "s_tmin": 0, "s_noise": 1,
    "override_settings": {}, "override_settings_restore_afterwards": True, "sampler_index": "Euler a",
    "script_name": None, "script_args": [], "send_images": True, "save_images": False, "alwayson_scripts": {},
}  # fmt: skip


def parsed(has_init=False, **data):
    return read_generation(Fields({"prompt": "a house"} | data), OFFERS, has_init=has_init)


def read(has_init=False, **data):
    return parsed(has_init, **data).take(lambda _: None)


def ignored(has_init=False, **data):
    return parsed(has_init, **data).unused


def with_image(**data):
    return read(True, init_images=[PICTURE], **data)


def refusal(reader=read, **data):
    with pytest.raises(Refusal) as refused:
        reader(**data)
    assert refused.value.status == 422 and "\n" not in refused.value.detail
    return refused.value.detail


def test_the_common_fields():
    asked = read(
        negative_prompt="fog", steps=8, cfg_scale=4.5, width=64, height=96, seed=3, batch_size=2, n_iter=3,
        sampler_name="DPM++ 2M Karras", override_settings={"sd_model_checkpoint": "sdxl_base.safetensors [31e35c80fc]"},
        save_images=True, send_images=False,
    )  # fmt: skip
    options = asked.options
    assert (options.prompt, options.negative, options.steps, options.guidance) == ("a house", "fog", 8, 4.5)
    assert (options.size, options.seed, options.count, asked.images) == ((64, 96), 3, 6, 6)
    assert (options.sampler, options.schedule, options.model) == ("dpmpp_2m", "karras", "xl")
    assert (asked.save, asked.send, asked.previews) == (True, False, True)


@pytest.mark.parametrize(
    ("said", "guidance", "true_cfg"),
    [
        ({"cfg_scale": 1, "distilled_cfg_scale": 3.5}, 3.5, 1),
        ({"cfg_scale": "2", "distilled_cfg_scale": "4"}, 4, 2),
        ({"distilled_cfg_scale": 2.5}, 2.5, None),
        ({"cfg_scale": 1}, None, 1),
        ({}, None, None),
    ],
)
def test_distilled_guidance_stands_beside_the_cfg_scale(said, guidance, true_cfg):
    options = read(**said).options
    assert (options.guidance, options.true_cfg) == (guidance, true_cfg)


def test_what_is_not_said_is_left_to_the_model_and_the_settings():
    options = read(sampler_name="Automatic", scheduler="automatic", seed=None).options
    assert (options.model, options.clip_skip) == ("starter/dit", 1)
    assert (options.sampler, options.schedule, options.steps, options.size, options.seed) == (None,) * 5


def test_numbers_may_be_written_as_text():
    options = read(steps="8", cfg_scale="4.5", width="64", height=64.0, enable_hr="false").options
    assert (options.steps, options.guidance, options.size) == (8, 4.5, (64, 64))


def test_what_clients_send_with_every_request_is_accepted():
    assert ignored(**DEFAULTS) == ()
    assert read(**DEFAULTS).options.sampler == "euler_a"
    hires = ("enable_hr", "hr_scale", "hr_upscaler")
    image = {name: value for name, value in DEFAULTS.items() if name not in hires}
    more = {"resize_mode": 0, "image_cfg_scale": 1.5, "initial_noise_multiplier": 1, "init_images": [PICTURE]}
    assert ignored(True, **image, **more) == ()


def test_unknown_fields_are_ignored_and_named():
    settings = {"filter_nsfw": False, "sd_model_checkpoint": "xl", "eta_noise_seed_delta": 31337}
    found = parsed(uniqueDocumentId="x", use_prompt_shortcut=True, override_settings=settings)
    names = ("override_settings.filter_nsfw", "override_settings.eta_noise_seed_delta")
    assert found.unused == ("uniqueDocumentId", "use_prompt_shortcut", *names)
    assert all(name in found.notices()[0] for name in names)
    assert read(uniqueDocumentId="x").parameters["uniqueDocumentId"] == "x"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"eta": 0.5, "sampler_name": "Euler a"}, "eta"), ({"eta": 1.0, "sampler_name": "DDIM"}, "eta"),
        ({"s_min_uncond": 0.3}, "s_min_uncond"), ({"firstphase_width": 512}, "firstphase_width"),
        ({"script_args": ["x"]}, "script_args"), ({"image_cfg_scale": 3}, "image_cfg_scale"),
    ],
)  # fmt: skip
def test_what_would_change_an_image_elsewhere_and_does_not_here_is_named(fields, name):
    assert ignored(**fields) == (name,)


@pytest.mark.parametrize(
    "fields", [{"eta": 0.5}, {"eta": 1, "sampler_name": "Euler a"}, {"eta": "0", "sampler_name": "DDIM"}]
)
def test_an_eta_that_the_sampler_has_or_does_not_use_is_taken(fields):
    assert ignored(**fields) == ()


def test_a_blur_in_each_direction_is_named_unless_it_is_the_same():
    assert ignored(True, init_images=[PICTURE], mask=PICTURE, mask_blur=6, mask_blur_x=6, mask_blur_y=6.0) == ()
    named = ignored(True, init_images=[PICTURE], mask=PICTURE, mask_blur_x=8, mask_blur_y=4)
    assert named == ("mask_blur_x",)


def test_every_sampler_scheduler_and_upscaler_that_is_listed_is_accepted():
    for name in (*SAMPLERS, *[one["name"] for one in lists.samplers()]):
        assert read(sampler_name=name).options.sampler in SAMPLERS
    for name in [one[key] for one in lists.schedulers() for key in ("name", "label")]:
        assert read(scheduler=name).options.schedule in (None, *SCHEDULES)
    upscalers = [*lists.upscalers(OFFERS.upscalers()), *lists.latent_upscale_modes()]
    for name in [one["name"] for one in upscalers]:
        assert ignored(enable_hr=True, hr_upscaler=name) == ()
    for style in [one["name"] for one in lists.prompt_styles()]:
        assert read(styles=[style]).options.style == (style,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tiling", True), ("restore_faces", True), ("styles", ["anime"]), ("subseed_strength", 1.5),
        ("seed_resize_from_w", 512), ("script_name", "x/y/z plot"), ("s_churn", 1), ("s_noise", 1.1),
        ("styles", "anime"), ("styles", [3]), ("styles", ["Ink"] * 21),
        ("infotext", "a house"), ("alwayson_scripts", {"ControlNet": {"args": [{"enabled": True}]}}),
        ("alwayson_scripts", {"ADetailer": {"args": [{"ad_model": "face"}]}}),
        ("alwayson_scripts", {"x": 3}), ("alwayson_scripts", 3), ("override_settings", {"sd_vae": "other.pt"}),
        ("override_settings", {"samples_format": "jpg"}), ("init_images", [PICTURE]), ("mask", PICTURE),
        ("steps", 0), ("steps", "many"), ("steps", True), ("cfg_scale", float("nan")), ("seed", 2**64), ("seed", -2),
        ("width", 64), ("batch_size", 0), ("n_iter", 101), ("prompt", 7), ("prompt", "a\0b"), ("sampler_name", "PLMS"),
        ("scheduler", "bong"), ("send_images", "maybe"), ("override_settings", [1]), ("refiner_checkpoint", "no"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_by_name(name, value):
    assert name in refusal(**{name: value})


@pytest.mark.parametrize("scripts", [{"ControlNet": {"args": []}}, {"ADetailer": {"args": [False]}}, {"x": {}}, None])
def test_scripts_that_are_off_are_accepted(scripts):
    assert ignored(alwayson_scripts=scripts) == ()


# As webuiapi 0.9 sends a unit.
UNIT = {
    "image": PICTURE, "mask": None, "module": "none", "model": "canny-xl [0123abcd]", "weight": 1.0,
    "resize_mode": "Resize and Fill", "low_vram": False, "processor_res": 512, "threshold_a": 64, "threshold_b": 64,
    "guidance_start": 0.0, "guidance_end": 1.0, "control_mode": "Balanced", "pixel_perfect": False,
    "hr_option": "Both", "enabled": True,
}  # fmt: skip


def units(*changes):
    return {"alwayson_scripts": {"controlnet": {"args": [UNIT | change for change in changes]}}}


def test_units_of_controlnet():
    changed = {"weight": 0.5, "guidance_end": 0.7, "module": "Canny", "union_control_type": "Soft Edge"}
    beside = {"image": {"image": PICTURE, "mask": ""}, "input_image": PICTURE}
    plain, other, third = read(**units({}, {"enabled": False}, changed, beside)).controls
    assert plain.image == other.image == third.image
    model, place = "/c/canny-xl.safetensors", "alwayson_scripts.controlnet.args[{}].image".format
    assert plain.control == ControlRef(image=place(0), model=model)
    made = [read(**units({"module": one})).controls[0].control.preprocess for one in ("softedge_hed", "depth_midas")]
    assert made == ["lines", "depth"]
    assert other.control == ControlRef(
        image=place(2), model=model, weight=0.5, end=0.7, type="hed", preprocess="canny"
    )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"image": ""}, {"image": "no base64"}, {"image": {"image": PICTURE, "mask": PICTURE}}, {"mask": PICTURE},
        {"model": "None"}, {"model": "/c/canny-xl.safetensors"}, {"module": "mlsd"}, {"weight": 3},
        {"guidance_start": 0.8, "guidance_end": 0.2}, {"control_mode": "ControlNet is more important"},
        {"union_control_type": "smell"}, {"enabled": "perhaps"},
    ],
)  # fmt: skip
def test_units_that_cannot_be_done(change):
    assert "alwayson_scripts.controlnet.args[0]" in refusal(**units(change))


def test_so_many_units():
    assert "9 units" in refusal(**units(*[{}] * 9))


def test_what_a_unit_says_and_is_not_used_is_named():
    unit = "alwayson_scripts.controlnet.args[{}].{}".format
    crop, off = {"resize_mode": "Crop and Resize"}, {"enabled": False, "what": 1}
    assert ignored(**units(crop)) == ignored(**units(crop | off)) == ()
    assert ignored(**units({}, crop | {"module": "canny", "pulid_mode": "Fidelity"})) == (
        unit(0, "resize_mode"), unit(1, "threshold_a"), unit(1, "threshold_b"), unit(1, "pulid_mode"),
    )  # fmt: skip


def test_a_unit_without_an_image_takes_the_init_image_and_says_so():
    found = parsed(True, init_images=[PICTURE], **units({"image": None}, {"image": ""}))
    path = "alwayson_scripts.controlnet.args[0].image"
    assert found.guesses[0].option == path and len(found.guesses) == 2
    asked = found.take(lambda _: None)
    assert asked.controls[0].image == asked.init.image
    assert "image" in refusal(**units({"image": None}))


@pytest.mark.parametrize(
    "sent",
    [
        base64.encodebytes(base64.b64decode(PICTURE)).decode(), f" {PICTURE[:20]}\r\n\t{PICTURE[20:]}\n",
        f"data:image/png;charset=utf-8;base64,{PICTURE}", f"\nDATA:image/svg+xml;base64,{PICTURE[:76]}\n{PICTURE[76:]}",
        f"data:;base64,{PICTURE}", f"data:application/octet-stream;name=a.png;base64,{PICTURE}",
    ],
)  # fmt: skip
def test_base64_as_encoders_write_it(sent):
    assert read(True, init_images=[sent]).init.image == base64.b64decode(PICTURE)


def test_a_model_is_taken_by_name_and_never_by_path(tmp_path):
    for name in (str(tmp_path), "../models", "/models/sdxl_base.safetensors", "sdxl_base/../xl", "broken"):
        detail = refusal(override_settings={"sd_model_checkpoint": name})
        assert "override_settings.sd_model_checkpoint" in detail and "no model is called" in detail


def test_loras_are_taken_by_name_and_never_by_path():
    options = read(prompt="a house <lora:style:0.5> by the sea <lora:Style>").options
    assert options.prompt == "a house  by the sea"
    path = str(Path("/l/Style.safetensors"))
    assert options.lora == (LoraRef(path=path, weight=0.5), LoraRef(path=path, weight=1.0))
    for tag in ("../Style", "/l/Style.safetensors", "x", "", "Style:much", "Style:0.5:0.7", "Style:nan", "Style:1e9"):
        assert "lora" in refusal(prompt=f"<lora:{tag}>").lower()
    assert "33" in refusal(prompt="<lora:Style>" * 33)


def test_a_second_pass():
    asked = read(
        enable_hr=True, hr_scale=2, hr_upscaler="Latent (nearest)", denoising_strength=0.4, hr_second_pass_steps=4,
        width=64, height=64,
    )  # fmt: skip
    options = asked.options
    assert (options.hires, options.hires_space, options.hires_upscaler) == (2, "latent", "nearest")
    assert (options.hires_strength, asked.second_pass_steps, asked.previews) == (0.4, 4, False)
    assert read(enable_hr=True, width=64, height=96, hr_resize_x=96, hr_resize_y=144).options.hires == 1.5
    sharp = read(enable_hr=True, hr_upscaler="4x-Sharp").options
    assert (sharp.hires_space, sharp.hires_upscaler) == ("pixel", "4x-Sharp")
    assert "4x-Sharp" in refusal(enable_hr=True, hr_upscaler="/etc/4x-Sharp.pth")
    assert read(enable_hr=True, width=64, height=96, hr_resize_x=96).options.hires == 1.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hr_upscaler", "R-ESRGAN 4x+"), ("hr_scale", 9), ("hr_resize_x", 70), ("hr_prompt", "a boat"),
        ("hr_sampler_name", "Euler"), ("hr_checkpoint_name", "xl"), ("hr_second_pass_steps", -1),
    ],
)  # fmt: skip
def test_a_second_pass_that_cannot_be_made(name, value):
    data = {"enable_hr": True, "width": 64, "height": 64, "hr_resize_y": 128 if name == "hr_resize_x" else 0}
    assert name in refusal(**data | {name: value})
    assert "hr_resize_x" in refusal(enable_hr=True, hr_resize_x=128)


def test_a_refiner():
    options = read(refiner_checkpoint="XL", refiner_switch_at=0.6).options
    assert (options.refiner, options.refiner_at) == ("xl", 0.6)
    assert read(refiner_checkpoint="None").options.refiner is None
    assert read(refiner_checkpoint="xl", refiner_switch_at=1).options.refiner is None
    assert "refiner_switch_at" in refusal(refiner_checkpoint="xl", refiner_switch_at=0)


def test_an_init_image_and_a_mask():
    asked = with_image(mask=f"data:image/png;base64,{PICTURE}", inpainting_mask_invert=1, inpainting_fill=2)
    options = asked.options
    assert asked.init.image == asked.init.mask and asked.init.invert_mask
    assert (options.strength, options.inpaint_feather, options.inpaint_area) == (0.75, 4, "masked")
    assert (options.inpaint_fill, options.inpaint_padding) == ("noise", 0)
    assert "init_images" not in asked.parameters
    assert "init_images" in with_image(include_init_images=True).parameters
    assert with_image().options.inpaint_area is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("init_images", []), ("init_images", [PICTURE, PICTURE]), ("init_images", "x"), ("init_images", [3]),
        ("init_images", ["/etc/passwd"]), ("init_images", ["http://192.0.2.1/a.png"]), ("init_images", [""]),
        ("init_images", ["data:image/png;base64,"]), ("mask", "%"), ("mask", "é"), ("resize_mode", 2),
        ("denoising_strength", 1.5), ("latent_mask", PICTURE), ("initial_noise_multiplier", 1.2),
    ],
)  # fmt: skip
def test_images_that_cannot_be_used(name, value):
    assert name in refusal(lambda **data: read(True, **{"init_images": [PICTURE]} | data), **{name: value})


def test_masks_that_cannot_be_filled():
    assert "inpainting_fill" in refusal(with_image, mask=PICTURE, inpainting_fill=3)
    assert "mask_blur" in refusal(with_image, mask=PICTURE, mask_blur=-1)


def test_answers_are_bounded():
    assert "million pixels" in refusal(width=8192, height=8192, batch_size=2)
    assert "million pixels" in refusal(width=4096, height=4096, enable_hr=True, hr_scale=4)
    assert "n_iter" in refusal(batch_size=11, n_iter=10)


values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=20) | some.just(PICTURE),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
names = some.sampled_from(
    [*DEFAULTS, "init_images", "mask", "prompt", "steps", "cfg_scale", "width", "height", "scheduler", "resize_mode"]
)


@given(some.dictionaries(names | some.text(max_size=12), values, max_size=8), some.booleans())
def test_whatever_is_sent_is_a_request_or_refused(data, has_init):
    try:
        asked = read_generation(Fields(data), OFFERS, has_init=has_init).take(lambda _: None)
    except Refusal as refused:
        assert refused.status == 422
    else:
        options = asked.options
        request_of(options.replace(init="init", mask="mask" if asked.init.mask else None) if has_init else options)


@pytest.fixture
def ink():
    settings = {"steps": 12, "guidance": 4.0, "size": "96x64"}
    save_style(Style(name="Ink", prompt="ink drawing of {prompt}", negative="colour", settings=settings))


def test_styles_put_their_texts_around_and_set_what_is_left_out(ink):
    options = read(styles=["ink", "", "None"], negative_prompt="fog", steps=8).options
    assert (options.prompt, options.negative, options.style) == ("ink drawing of a house", "fog, colour", ("Ink",))
    assert (options.steps, options.guidance, options.size) == (8, 4.0, (96, 64))
    assert request_of(options).styles == ("Ink",)
    assert read(styles=["None"]).options == read().options


def test_what_styles_set_is_bounded_as_what_requests_set(ink):
    save_style(Style(name="Huge", settings={"size": "4096x4096", "hires": 4.0}))
    assert "million pixels" in refusal(styles=["Huge"])
    assert "styles[1]" in refusal(styles=["Ink", "Inc"])

"""The endpoints, as A1111's clients use them."""

import base64
import io
import json
import threading

import pytest
from api_made import Served, call, in_base64
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from own_images import write_own
from PIL import Image

from mezzotint.api_server.refusal import Refusal
from mezzotint.library.styles.store import save_style
from mezzotint.library_protocol import Style


@pytest.fixture
def api(served):
    return served.api


def get(api, name, **query):
    return call(api, "GET", name, **query)


def post(api, name, **data):
    return call(api, "POST", name, data)


def test_what_there_is(api):
    assert [one["name"] for one in get(api, "samplers")][:2] == ["Euler", "Euler a"]
    assert [one["label"] for one in get(api, "schedulers")][:3] == ["Automatic", "Normal", "Karras"]
    assert [one["title"] for one in get(api, "sd-models")] == ["starter/dit", "xl"]
    assert get(api, "loras") == [{"name": "Style", "alias": "Style", "path": "Style.safetensors", "metadata": {}}]
    assert {"Lanczos", "starter-2x"} < {one["name"] for one in get(api, "upscalers")}
    for name in ("model_list", "module_list", "version"):
        assert get(api, f"/controlnet/{name}")[name]
    assert get(api, "latent-upscale-modes") and get(api, "sd-vae") == []
    assert {"name", "prompt", "negative_prompt"} == set(get(api, "prompt-styles")[0])
    assert get(api, "scripts") == {"txt2img": [], "img2img": []}
    assert get(api, "cmd-flags")["api"] is True
    assert get(api, "memory")["ram"]["total"] > 0
    assert "/" not in json.dumps([get(api, name) for name in ("loras", "cmd-flags", "options")]).replace("starter/", "")


def test_an_answer_has_images_parameters_and_info(api, served):
    answer = post(api, "txt2img", prompt="a house", batch_size=2, steps=3, unknown=1)
    assert len(answer["images"]) == 2 and answer["parameters"] == {
        "prompt": "a house", "batch_size": 2, "steps": 3, "unknown": 1
    }  # fmt: skip
    info = json.loads(answer["info"])
    assert (info["seed"], info["all_seeds"], info["steps"]) == (7, [7, 8], 20)
    assert info["infotexts"][0].startswith("a red barn\n") and info["ignored_fields"] == ["unknown"]
    assert (info["all_prompts"], info["interrupted"]) == (["a house"] * 2, False)
    assert info["notices"] == ["the request: not used: unknown", "a house"]
    assert post(api, "png-info", image=answer["images"][0])["info"] == info["infotexts"][0]


def test_with_a_variation_the_seed_stays_and_the_variation_seed_counts_up(api, served):
    answer = post(api, "txt2img", prompt="a house", seed=5, subseed=20, subseed_strength=0.3, n_iter=3)
    requests = served.engine.requests
    how = [request.cascade.stages[0].sampling for request in requests]
    assert len(answer["images"]) == 3 and [(one.seed, one.count) for one in requests] == [(5, 1)] * 3
    assert [(one.variation_seed, one.variation_strength) for one in how] == [(20, 0.3), (21, 0.3), (22, 0.3)]


def test_images_are_kept_only_if_that_is_asked(api, served):
    post(api, "txt2img", prompt="a house")
    assert [path.name for path in served.folder.output.iterdir() if path.suffix] == []
    answer = post(api, "txt2img", prompt="a house", save_images=True, send_images=False)
    assert [path.suffix for path in served.folder.output.iterdir() if path.is_file()] == [".png"]
    assert answer["images"] == [] and json.loads(answer["info"])["seed"] == 7


def test_an_init_image_and_its_mask_reach_the_engine(api, served):
    init = in_base64(Image.new("RGB", (48, 32), "red"), "JPEG")
    mask = in_base64(Image.new("L", (48, 32), 255))
    answer = post(api, "img2img", prompt="a house", init_images=[init], mask=mask, inpainting_mask_invert=1)
    files = served.engine.files[-1]
    assert files["init"].format is None and files["init"].size == (48, 32)
    assert files["mask"].getextrema() == (0, 0)
    assert json.loads(answer["info"])["denoising_strength"] == 0.75
    assert not [path for path in served.folder.output.rglob("*") if path.name in ("init", "mask")]
    post(api, "img2img", prompt="a house", init_images=[init])
    assert served.engine.files[-1].keys() == {"init"}


def test_control_images_reach_the_engine(api, served):
    unit = {"image": in_base64(Image.new("RGB", (48, 32))), "model": "canny-xl", "weight": 0.5}
    post(api, "txt2img", prompt="a house", alwayson_scripts={"ControlNet": {"args": [unit]}})
    (control,) = served.engine.requests[-1].controls
    assert (control.model, control.weight) == ("/controlnet/canny-xl.safetensors", 0.5)
    assert not list(served.folder.output.rglob("control*"))


def enlarged(text):
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return image.size


def test_finished_images_are_enlarged(api, served):
    picture = in_base64(Image.new("RGB", (48, 32)))
    answer = post(api, "extra-single-image", image=picture, upscaler_1="starter-2x", upscaling_resize=1.5)
    assert enlarged(answer["image"]) == (72, 48)
    cover = {"upscaler_1": "4x-sharp", "resize_mode": 1, "upscaling_resize_w": 64, "upscaling_resize_h": 64}
    images = [{"data": picture, "name": "a"}, {"data": in_base64(Image.new("RGB", (32, 40))), "name": "b"}]
    answer = post(api, "extra-batch-images", imageList=images, **cover)
    assert [enlarged(each) for each in answer["images"]] == [(64, 64), (64, 64)]
    answer = post(api, "extra-single-image", image=picture, upscaling_crop=False, **cover)
    assert enlarged(answer["image"]) == (96, 64)
    assert served.engine.requests[-1].upscaler == "4x-Sharp"
    assert not [path for path in served.folder.output.rglob("*") if path.name.startswith(("image", "enlarged"))]


@pytest.mark.parametrize(
    "change",
    [
        {"upscaler_1": "../x"}, {"image": "no base64"}, {"image": "aGVsbG8="},
        {"upscaling_resize": 99}, {"gfpgan_visibility": 1}, {"resize_mode": 2},
        {"resize_mode": 1, "upscaling_resize_w": 9999, "upscaling_resize_h": 1},
    ],
)  # fmt: skip
def test_images_that_cannot_be_enlarged(api, change):
    fields = {"image": in_base64(Image.new("RGB", (48, 32))), "upscaler_1": "starter-2x"}
    with pytest.raises(Refusal) as refused:
        post(api, "extra-single-image", **fields | change)
    assert refused.value.status == 422 and "/" not in refused.value.detail.replace("../x", "")


@pytest.mark.parametrize("name", ["png-info", "extra-single-image", "/controlnet/detect", "options"])
def test_whatever_an_endpoint_does_not_use_is_named(api, name):
    picture = in_base64(Image.new("RGB", (48, 32)))
    images = {"options": {}, "/controlnet/detect": {"controlnet_input_images": [picture]}}
    answer = post(api, name, **images.get(name, {"image": picture}), prompt="x", other={"a": 1})
    assert answer["ignored_fields"][-2:] == ["prompt", "other"]


def test_every_upscaler_that_is_listed_enlarges(api):
    picture = in_base64(Image.new("RGBA", (20, 10), (255, 0, 0, 40)))
    for name in [one["name"] for one in get(api, "upscalers")]:
        answer = post(api, "extra-single-image", image=picture, upscaler_1=name, upscaling_resize=3)
        kept = name == "None"  # as A1111 does; the size that is not used is named
        assert enlarged(answer["image"]) == ((20, 10) if kept else (60, 30)), name
        assert answer["ignored_fields"] == (["upscaling_resize"] if kept else [])
        fields = {"upscaler_1": name, "resize_mode": 1, "upscaling_resize_w": 40, "upscaling_resize_h": 40}
        answer = post(api, "extra-batch-images", imageList=[{"data": picture, "name": "a"}], **fields)
        assert enlarged(answer["images"][0]) == ((20, 10) if kept else (40, 40))


def test_control_images_are_made_by_every_module_that_is_listed(api):
    picture = in_base64(Image.new("RGB", (24, 16), "red"))
    modules = get(api, "/controlnet/module_list")["module_list"]
    assert "depth_anything_v2" in modules and "openpose" not in modules  # for lack of a network
    for name in modules:
        asked = {"controlnet_module": name, "controlnet_input_images": [picture], "controlnet_processor_res": 512}
        answer = post(api, "/controlnet/detect", **asked)
        assert enlarged(answer["images"][0]) == (24, 16) and answer["ignored_fields"] == []
    kinds = get(api, "/controlnet/control_types")["control_types"]
    assert {name for kind in kinds.values() for name in kind["module_list"]} == set(modules)
    assert kinds["Depth"]["default_option"].startswith("depth") and kinds["OpenPose"]["default_option"] == "none"
    assert all("canny-xl" in kind["model_list"] for kind in kinds.values())


@pytest.mark.parametrize("change", [{"controlnet_input_images": []}, {"controlnet_module": "mlsd"}])
def test_control_images_that_cannot_be_made(api, change):
    with pytest.raises(Refusal) as refused:
        post(api, "/controlnet/detect", **{"controlnet_input_images": ["eA=="]} | change)
    assert refused.value.status == 422 and next(iter(change)) in refused.value.detail


def test_a_unit_without_an_image_takes_the_init_image(api, served):
    init = in_base64(Image.new("RGB", (48, 32), "red"))
    units = {"controlnet": {"args": [{"model": "canny-xl", "module": "canny"}]}}
    answer = post(api, "img2img", prompt="a house", init_images=[init], alwayson_scripts=units)
    assert served.engine.requests[-1].controls[0].model == "/controlnet/canny-xl.safetensors"
    files = served.engine.files[-1]
    assert files["control-0"].getpixel((0, 0)) == files["init"].getpixel((0, 0)) == (255, 0, 0)
    assert "the init image is assumed" in json.loads(answer["info"])["notices"][0]


def test_all_options_that_are_shown_can_be_sent_back(api):
    assert post(api, "options", **get(api, "options")) == {"ignored_fields": []}


def test_the_description_names_every_endpoint_and_only_fields_that_are_used(api):
    paths = get(api, "/openapi.json")["paths"]
    assert paths.keys() == api.endpoints.keys() and json.dumps(paths)
    html = get(api, "/docs").html
    assert all(path in html for path in paths) and "http" not in html.replace("http_api", "")
    picture = in_base64(Image.new("RGB", (48, 32)))
    save_style(Style(name="Ink", prompt="ink"))
    for path, methods in paths.items():
        if "requestBody" not in methods.get("post", {}) or path.endswith(("interrogate", "skip")):
            continue
        fields = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        sent = json.dumps({name: field["examples"][0] for name, field in fields.items()})
        sent = sent.replace("iVBORw0KGgo...", picture).replace("starter-dit", "starter/dit")
        answer = call(api, "POST", path, json.loads(sent))
        assert answer["ignored_fields"] == [], path


def test_a_mask_with_transparent_parts_is_its_opacity(api, served):
    drawn = Image.new("RGBA", (48, 32), (0, 0, 0, 0))
    drawn.paste((0, 0, 0, 255), (0, 0, 24, 32))
    init = in_base64(Image.new("RGB", (48, 32)))
    post(api, "img2img", prompt="a house", init_images=[init], mask=in_base64(drawn))
    mask = served.engine.files[-1]["mask"]
    assert (mask.mode, mask.getpixel((0, 0)), mask.getpixel((40, 0))) == ("L", 255, 0)


@pytest.mark.parametrize("mask", [b"no image", b"\x89PNG\r\n\x1a\n"])
def test_a_mask_that_is_no_image(api, mask):
    init = in_base64(Image.new("RGB", (48, 32)))
    with pytest.raises(Refusal) as refused:
        post(api, "img2img", prompt="a house", init_images=[init], mask=base64.b64encode(mask).decode())
    assert refused.value.status == 422 and refused.value.detail.startswith("mask ")


def test_a_second_pass_takes_the_steps_that_are_asked_for(api, served):
    post(api, "txt2img", prompt="a house", enable_hr=True, denoising_strength=0.5, hr_second_pass_steps=4, steps=3)
    stages = served.engine.requests[-1].cascade.stages
    assert [stage.sampling.steps for stage in stages] == [3, 8]


def test_the_model_is_an_option_that_lasts(api, served):
    assert get(api, "options")["sd_model_checkpoint"] == "starter/dit"
    answer = post(api, "options", **get(api, "options") | {"sd_model_checkpoint": "XL", "unknown": 3})
    assert answer == {"ignored_fields": ["unknown"]}
    assert get(api, "options")["sd_model_checkpoint"] == "xl"
    post(api, "options", CLIP_stop_at_last_layers=2, live_previews_enable=False)
    assert get(api, "options")["CLIP_stop_at_last_layers"] == 2
    post(api, "txt2img", prompt="a house")
    request = served.engine.requests[-1]
    assert request.cascade.stages[0].model.id == "xl" and request.cascade.stages[0].sampling.clip_skip == 1
    assert not request.previews
    for wrong in ({"sd_model_checkpoint": "/etc"}, {"sd_vae": "x.pt"}, {"live_previews_enable": "x"}):
        with pytest.raises(Refusal):
            post(api, "options", **wrong)
    assert get(api, "options")["sd_model_checkpoint"] == "xl"


def test_progress_and_an_interruption(served):
    answers = []
    data = {"prompt": "slow", "n_iter": 2}
    thread = threading.Thread(target=lambda: answers.append(served.call("POST", "txt2img", data)))
    assert get(served.api, "progress")["state"]["job_count"] == 0
    thread.start()
    assert served.engine.running.wait(60)
    while (now := get(served.api, "progress"))["progress"] < 0.75:
        pass
    assert now["current_image"] == "cHJl" and now["eta_relative"] >= 0
    assert (now["state"]["job_no"], now["state"]["sampling_step"], now["state"]["job"]) == (1, 1, "txt2img")
    assert get(served.api, "progress", skip_current_image="true")["current_image"] is None
    assert post(served.api, "interrupt") == {"ignored_fields": []}
    thread.join(60)
    assert answers[0].status == 200 and len(answers[0].json["images"]) == 1
    assert answers[0].info["interrupted"] and answers[0].info["all_seeds"] == [7]


def test_errors_of_the_engine(api):
    with pytest.raises(Refusal) as refused:
        post(api, "txt2img", prompt="refused")
    assert (refused.value.status, refused.value.content["error"]) == (422, "model_refused")


def test_unloading(api, served):
    assert post(api, "unload-checkpoint", x=1) == {"ignored_fields": ["x"]} and served.engine.closed == 1
    for name in ("refresh-checkpoints", "refresh-vae", "reload-checkpoint"):
        assert post(api, name) == {"ignored_fields": []}


def test_what_an_image_says(api, tmp_path):
    path = write_own(tmp_path / "own.png", prompt="a boat")
    with Image.open(path) as image:
        found = post(api, "png-info", image="data:image/png;base64," + in_base64(image.copy()))
        assert found == {"info": "", "items": {}, "parameters": {}, "ignored_fields": []}
    found = post(api, "png-info", image=base64.b64encode(path.read_bytes()).decode())
    assert found["parameters"]["Prompt"] == "a boat" and found["parameters"]["Steps"] == "20"
    assert found["items"]["parameters"] == found["info"]
    for wrong in (None, 3, "", "%", "bm8gaW1hZ2U="):
        with pytest.raises(Refusal) as refused:
            post(api, "png-info", image=wrong)
        assert refused.value.status == 422


def test_the_model_of_the_start_must_exist(tmp_path):
    with pytest.raises(Refusal, match="no-such"):
        Served(tmp_path, model="no-such")
    with Served(tmp_path, model="sdxl_base") as server:
        assert get(server.api, "options")["sd_model_checkpoint"] == "xl"


names = some.sampled_from(
    [
        "prompt",
        "image",
        "sd_model_checkpoint",
        "init_images",
        "mask",
        "steps",
        "batch_size",
        "seed",
        "imageList",
        "alwayson_scripts",
    ]
)
simple = some.none() | some.booleans() | some.integers(-2, 3) | some.text(max_size=9) | some.just(
    in_base64(Image.new("RGB", (8, 8)))
)  # fmt: skip
objects = some.dictionaries(names | some.text(max_size=5), simple | some.lists(simple, max_size=2), max_size=5)


ENDPOINTS = (
    *("txt2img", "img2img", "options", "png-info", "interrupt", "unload-checkpoint"),
    *("extra-single-image", "extra-batch-images"),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.sampled_from(ENDPOINTS), objects)
def test_whatever_is_posted_is_answered_or_refused(api, name, data):
    try:
        json.dumps(post(api, name, **data), allow_nan=False)
    except Refusal as refused:
        assert refused.status == 422 and json.dumps(refused.content)

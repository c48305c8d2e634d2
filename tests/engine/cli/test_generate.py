"""`mezzotint generate` over a fake engine: what reaches the engine, and what a person and a program get to see."""

import itertools
import json
import shlex

import pytest
from fake_engine import model_info

from mezzotint.cli.interrupt import Interrupt
from mezzotint.codec import decode, decode_event
from mezzotint.protocol import (
    GenerateRequest,
    GenerateResult,
    ImageInput,
    ImageMetadata,
    Inpaint,
    Loading,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
)


def test_paths_go_to_stdout_and_talk_to_stderr(command):
    done = command("generate", "a barn", "--count", "2")
    assert done.code == 0
    assert done.out == "0.png\n1.png\n"
    assert done.err.splitlines() == [
        "notice: made by nobody",
        "notice: a barn",
        "2 images, 128x96, seeds 7 to 8, 3.2 s",
    ]
    assert done.engine.closed


def test_every_option_reaches_the_request(command):
    words = (
        "-m base --negative rain --size 64x96 --steps 20 --guidance 5 --guidance-rescale 0.7 --sampler euler "
        "--schedule karras --clip-skip 1 --prediction-type v_prediction --zero-terminal-snr --seed 7 --count 2 "
        "--init i.png --strength 0.4 --embedding a.safetensors --embedding b.safetensors "
        "--lora c.safetensors:-0.5 --lora d.safetensors --device cpu "
        "--dtype float32 --attention sdpa --preview-dir steps -o out/ --overwrite --models-folder /m"
    )
    done = command("generate", *shlex.split(words), "a barn")
    sampling = Sampling(
        sampler="euler",
        schedule="karras",
        steps=20,
        guidance_scale=5.0,
        guidance_rescale=0.7,
        clip_skip=1,
        prediction_type="v_prediction",
        zero_terminal_snr=True,
    )
    stage = Stage(model=ModelRef(id="base"), width=64, height=96, sampling=sampling)
    request = done.request
    assert request.cascade.stages == (stage,)
    assert request == GenerateRequest(
        prompt="a barn",
        negative_prompt="rain",
        cascade=request.cascade,
        seed=7,
        count=2,
        images=(ImageInput(path="i.png"),),
        strength=0.4,
        embeddings=("a.safetensors", "b.safetensors"),
        loras=(LoraRef(path="c.safetensors", weight=-0.5), LoraRef(path="d.safetensors")),
        device="cpu",
        dtype="float32",
        attention="sdpa",
        output=Output(path="out/", overwrite=True, preview_folder="steps"),
    )
    assert [str(folder) for folder in done.folders] == ["/m"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("sparse", ("pooled", None)),
        ("sparse:window", ("window", None)),
        ("sparse:topk:0.4", ("topk", 0.4)),
        ("sparse:0.3", ("pooled", 0.3)),
    ],
)
def test_sparse_attention_is_independent_of_the_implementation(command, word, value):
    request = command("generate", "a barn", "--attention", "flash", "--attention", word).request
    assert (request.attention, request.cascade.stages[0].sampling) == ("flash", Sampling(sparse_attention=value))
    only = command("generate", "a barn", "--attention", word).request
    assert (only.attention, only.cascade.stages[0].sampling.sparse_attention) == ("auto", value)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("sparse:swin", "swin attention fails in models trained without it"),
        ("sparse:topk:2", "'topk:2' is invalid; expected pooled, window, topk or tiles"),
        (
            "sdp",
            "'sdp' is invalid; expected one of auto, flash, flash-fp16, int8, int8-all, int8-fp8, sdpa, "
            "reference, or sparse[:KIND]",
        ),
    ],
)
def test_other_words_for_attention_are_refused_with_the_reason(command, word, why):
    done = command("generate", "a barn", "--attention", word)
    assert done.code == 2 and why in done.err


def test_the_prompt_may_stand_anywhere(command):
    parts = (["a barn"], ["--steps", "3"], ["--no-zero-terminal-snr"], ["--embedding", "a", "--embedding", "b"])
    for order in itertools.permutations(parts):
        request = command("generate", *itertools.chain(*order)).request
        assert request.prompt == "a barn"
        assert request.cascade.stages[0].sampling == Sampling(steps=3, zero_terminal_snr=False)
    assert command("generate", "--steps", "3", "--", "--a barn").request.prompt == "--a barn"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["a", "b"],
        ["a", "--size", "64"],
        ["a", "--size", "0x64"],
        ["a", "--size", "-64x64"],
        ["a", "--steps", "0"],
        ["a", "--steps", "many"],
        ["a", "--guidance", "nan"],
        ["a", "--guidance", "inf"],
        ["a", "--strength", "1.5", "--init", "i.png"],
        ["a", "--strength", "0.5"],
        ["a", "--refiner-at", "0.5"],
        ["a", "--refiner", "r", "--refiner-at", "1"],
        ["a", "--hires", "0.5"],
        ["a", "--hires", "9"],
        ["a", "--hires-space", "pixel"],
        ["a", "--hires", "2", "--hires-space", "paper"],
        ["a", "--seed", "-1"],
        ["a", "--count", "0"],
        ["a", "--clip-skip", "x"],
        ["a", "--dtype", "int8"],
        ["a", "--attention", "none"],
        ["a", "--prediction-type", "guess"],
        ["a", "--step", "3"],
        ["a", "--json", "--jsonl"],
        ["a \udcff barn"],
        ["a", "--negative", "\udcff"],
    ],
)
def test_words_that_cannot_work_are_refused_in_one_line_before_the_engine_is_asked(command, words):
    done = command("generate", *words)
    assert done.code == 2
    assert done.err.startswith("mezzotint: error: ")
    assert done.err.count("\n") == 1
    assert done.engine.requests == []


def test_json_is_one_object_with_every_value(command):
    done = command("generate", "a barn", "--json")
    assert done.out.count("\n") == 1
    assert decode(GenerateResult, done.json).images[0].path == "0.png"
    assert "128x96" in done.err


def test_jsonl_is_the_events_and_then_the_result(command):
    lines = [json.loads(line) for line in command("generate", "a barn", "--jsonl", "--quiet").out.splitlines()]
    assert isinstance(decode_event(lines[0]["event"]), Loading)
    assert [list(line) for line in lines] == [["event"]] * (len(lines) - 1) + [["result"]]
    assert decode(GenerateResult, lines[-1]["result"]).images


def test_quiet_leaves_only_the_results(command):
    done = command("generate", "a barn", "-q")
    assert (done.code, done.out, done.err) == (0, "0.png\n", "")


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_programs_get_errors_too(command, form):
    done = command("generate", "refused", form)
    assert done.code == 5
    error = json.loads(done.out.splitlines()[-1])["error"]
    assert error == {"kind": "model_refused", "message": "the file is no model", "exit_code": 5}
    assert done.err == "mezzotint: error: the file is no model\n"
    assert json.loads(command("generate", "a", form, "--steps", "0").out)["error"]["kind"] == "usage"


def test_a_prompt_that_looks_like_an_option_asks_for_no_json(command):
    assert command("generate", "-q", "--size", "x", "--", "--json").out == ""


def test_a_failure_after_images_is_partly_done(command):
    done = command("generate", "half", "--count", "2")
    assert done.code == 3
    assert done.out == "0.png\n"
    assert "1 of 2 images were saved" in done.err
    assert done.err.endswith("mezzotint: error: the second half is missing\n")
    assert done.engine.closed


def test_memory_and_bugs(command):
    done = command("generate", "memory")
    assert done.code == 4
    assert done.err.count("\n") == 1
    done = command("generate", "bug", "--json")
    assert done.code == 1
    assert "ValueError: nobody thought of this" in done.err
    assert "report it" in done.err.splitlines()[-1]
    assert done.json["error"]["kind"] == "bug"


def test_ctrl_c_during_work_stops_it_in_good_order(command):
    told = []
    interrupt = Interrupt(told.append, lambda code: None)
    heard = command("generate", "a barn", interrupt=interrupt)
    assert heard.code == 0
    interrupt.handle(2, None)
    done = command("generate", "slow", interrupt=interrupt)
    assert done.code == 130
    assert done.err == "mezzotint: stopped\n"
    assert "stopping after this step" in told[0]


# ---- --from


def metadata(**changes):
    values = dict.fromkeys(ImageMetadata.__slots__)
    return ImageMetadata(**values | {"program": "a1111", "prompt": "a foreign barn", "other": {}} | changes)


def test_from_ours_makes_the_same_request(command):
    earlier = GenerateRequest(prompt="mine", seed=3, output=Output(path="/etc/passwd", overwrite=True))
    done = command("generate", "--from", "a.png", metadata=metadata(program="mezzotint", request=earlier))
    assert done.request == GenerateRequest(prompt="mine", seed=3)
    done = command("generate", "--from", "a.png", "--seed", "4", metadata=metadata(request=earlier))
    assert done.request == GenerateRequest(prompt="mine", seed=4)


def test_from_a_foreign_image_says_so(command):
    found = metadata(model="starter/dit", strength=0.3, seed=5)
    done = command("generate", "--from", "a.png", metadata=found)
    assert done.code == 0
    assert "made by a1111" in done.err
    assert done.request.seed == 5
    assert done.request.cascade.stages[0].model is None  # a path's last part only: "dit" is no id here
    assert done.request.strength is None


def test_from_a_foreign_image_finds_its_model_and_its_strength_for_an_init_image(command):
    found = metadata(model="base", strength=0.3)
    models = [model_info(id="base")]
    done = command("generate", "--from", "a.png", "--init", "i.png", metadata=found, models=models)
    assert done.request.cascade.stages[0].model == ModelRef(id="base")
    assert done.request.strength == 0.3
    done = command("generate", "--from", "a.png", "-m", "other", metadata=found, models=models)
    assert done.request.cascade.stages[0].model == ModelRef(id="other")


def test_from_a_foreign_image_clip_skip_and_mask_settings_survive_another_model_and_image(command):
    found = metadata(clip_skip=1, inpaint=Inpaint(feather=3, area="masked"), unused=("Eta 0.5",))
    models = [model_info(id="base", family="sd15")]
    words = ("--init", "i.png", "--mask", "m.png", "--inpaint-padding", "9", "-m", "base")
    done = command("generate", "--from", "a.png", *words, metadata=found, models=models)
    assert done.request.cascade.stages[0].sampling.clip_skip == 1
    assert done.request.inpaint == Inpaint(feather=3, area="masked", padding=9)
    assert "not used: Eta 0.5, " in done.err
    done = command("generate", "--from", "a.png", "-m", "gone", metadata=found, models=models)
    assert done.request.cascade.stages[0].sampling.clip_skip is None
    assert "not used: clip skip 1, the settings of its mask, Eta 0.5" in done.err


def test_from_an_image_that_says_nothing_is_a_usage_error(command):
    assert command("generate", "--from", "a.png", metadata=metadata(prompt=None)).code == 2


# ---- inpainting


def test_the_words_of_the_command(command):
    done = command("generate", "a barn", "--init", "a.png", "--mask", "m.png", "--outpaint", "right=8", "--seed", "1")
    assert done.request.inpaint == Inpaint(right=8) and len(done.request.images) == 2
    for words in (
        ("--inpaint-area", "half"),
        ("--inpaint-fill", "red"),
        ("--outpaint", "8"),
        ("--inpaint-padding", "-1"),
    ):
        assert command("generate", "a barn", "--init", "a.png", "--mask", "m.png", *words).code == 2


def test_the_fill_is_still_known_by_its_earlier_name_and_offered_by_that_of_today(command):
    done = command("generate", "a barn", "--init", "a.png", "--mask", "m.png", "--inpaint-fill", "picture")
    assert done.request.inpaint == Inpaint(fill="original")
    script = command("completion", "bash").out
    assert "original" in script and "picture" not in script


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_complete_them(command, shell):
    script = command("completion", shell).out
    for word in ("--mask", "--inpaint-area", "--inpaint-fill", "--outpaint"):
        assert word.lstrip("-") in script

"""Parts of pictures made anew: as the peer does it, and what lies outside stays to the last bit."""

import copy
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from mezzotint import codec, paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, ImageRefused, OutOfMemory, UsageError
from mezzotint.families.samplers import build_scheduler, resolve_scheduler
from mezzotint.images.metadata import read_metadata
from mezzotint.memory.device import open_device
from mezzotint.protocol import (
    Cascade,
    DecodeRequest,
    GenerateRequest,
    GenerateResult,
    ImageInput,
    Inpaint,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Stage,
    Step,
    Transition,
)
from mezzotint.stages import cascade, workroom
from mezzotint.stages.undecoded import undecoded
from mezzotint.training.starter.judge import bundled_judge, load_judge, pixels_of
from mezzotint.training.starter.world import COLOURS, KINDS

PROMPT, SEED, SIDE = "a red house by the sea at dusk", 7, 64
HOLE = (16, 8, 48, 40)


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def picture(tmp_path):
    """Noise that no network would make."""

    def save(name="init.png", size=(SIDE, SIDE), seed=0):
        pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / name)
        return ImageInput(path=str(tmp_path / name))

    return save


@pytest.fixture
def mask(tmp_path):
    def save(*boxes, size=(SIDE, SIDE), name="mask.png"):
        image = Image.new("L", size)
        for box in boxes or (HOLE,):
            image.paste(255, box)
        image.save(tmp_path / name)
        return ImageInput(path=str(tmp_path / name), role="mask")

    return save


@pytest.fixture
def request_for(tmp_path):
    def build(folder, *images, size=(SIDE, SIDE), stages=(), transitions=(), **fields):
        sampling = Sampling(steps=fields.pop("steps", 4), sampler=fields.pop("sampler", None))
        width, height = size or (None, None)
        first = Stage(model=ModelRef(id=str(folder)), width=width, height=height, sampling=sampling)
        first = replace(first, until=fields.pop("until", None))
        return GenerateRequest(
            prompt=PROMPT,
            seed=SEED,
            images=images,
            cascade=Cascade(stages=(first, *stages), transitions=tuple(transitions)),
            output=Output(path=f"{tmp_path}/out/"),
            attention="sdpa",
            **fields,
        )

    return build


def run(engine, request, events=None, cancelled=lambda: False) -> GenerateResult:
    return engine.generate(request, (events if events is not None else []).append, cancelled)


def pixels(image) -> np.ndarray:
    return np.array(Image.open(image.path if hasattr(image, "path") else image).convert("RGB"))


def outside(shape, *boxes) -> np.ndarray:
    free = np.ones(shape[:2], bool)
    for left, top, right, bottom in boxes:
        free[top:bottom, left:right] = False
    return free


def again(engine, result, request):
    recorded = read_metadata(Path(result.images[0].path)).request
    return run(engine, replace(recorded, output=request.output)).images[0].sha256


# ---- as the peer does it


def theirs(folder, sampler, init, hole, *, strength, steps=6):
    """diffusers' masked latents with an ordinary checkpoint, before anything is pasted."""
    from diffusers import StableDiffusionXLInpaintPipeline

    pipeline = StableDiffusionXLInpaintPipeline.from_pretrained(folder, torch_dtype=torch.float32)
    for name, part in pipeline.components.items():
        if isinstance(part, torch.nn.Module):
            setattr(pipeline, name, copy.deepcopy(part))  # weights of a mapped file lie unaligned, and round otherwise
    config = {**pipeline.scheduler.config, "_class_name": type(pipeline.scheduler).__name__}
    pipeline.scheduler = build_scheduler(
        resolve_scheduler(config, sampler=sampler, schedule=None, prediction_type=None, zero_terminal_snr=None)
    )
    return pipeline(
        PROMPT,
        image=Image.open(init.path),
        mask_image=Image.open(hole.path),
        # Of no use to a network of four channels, but encoding it would draw noise that the sampler then lacks.
        masked_image_latents=torch.zeros(1, 4, SIDE // 2, SIDE // 2),
        width=SIDE,
        height=SIDE,
        strength=strength,
        num_inference_steps=steps,
        guidance_scale=5.0,
        generator=torch.Generator("cpu").manual_seed(SEED),
    ).images[0]


@pytest.mark.parametrize("sampler", ["euler", "euler_a", "heun", "dpmpp_2m", "dpmpp_2m_sde", "ddim", "unipc", "lcm"])
def test_inside_of_the_mask_it_is_the_peers_bit_for_bit(
    engine, request_for, tiny_sdxl_folder, picture, mask, sampler, tmp_path
):
    init, hole = picture(), mask()
    wanted = np.array(theirs(tiny_sdxl_folder, sampler, init, hole, strength=0.7))
    inpaint = Inpaint(feather=0)  # theirs knows no edge
    request = request_for(
        tiny_sdxl_folder, init, hole, sampler=sampler, steps=6, strength=0.7, inpaint=inpaint, vae_tile=0
    )
    result = pixels(run(engine, request).images[0])
    kept = outside(result.shape, HOLE)
    assert wanted[~kept].std() > 1
    assert not np.array_equal(wanted[~kept], pixels(init.path)[~kept])
    np.testing.assert_array_equal(result[~kept], wanted[~kept])
    np.testing.assert_array_equal(result[kept], pixels(init.path)[kept])


# ---- what stays, stays


@pytest.mark.parametrize("fill", ["picture", "blur", "noise"])
@pytest.mark.parametrize("model", ["tiny_sdxl_folder", "tiny_pixart_folder"])
def test_pixels_outside_are_the_inputs_own_and_inside_is_new(engine, request_for, request, picture, mask, model, fill):
    folder = request.getfixturevalue(model)
    boxes = [(3, 5, 31, 37), (40, 50, 43, 64)]  # along no latent's edge, and one thinner than the feather
    asked = request_for(folder, picture(), mask(*boxes), inpaint=Inpaint(fill=fill))
    result = run(engine, asked)
    kept = outside((SIDE, SIDE), *boxes)
    before, after = pixels(asked.images[0].path), pixels(result.images[0])
    np.testing.assert_array_equal(after[kept], before[kept])
    for left, top, right, bottom in boxes:
        assert np.abs(after[top:bottom, left:right].astype(int) - before[top:bottom, left:right]).mean() > 5
    assert again(engine, result, asked) == result.images[0].sha256
    assert run(engine, replace(asked, seed=8)).images[0].sha256 != result.images[0].sha256


def test_the_result_and_the_record_say_what_was_used(engine, request_for, tiny_sdxl_folder, picture, mask):
    result = run(engine, request_for(tiny_sdxl_folder, mask(), picture(), steps=4))
    assert result.inpaint.asked == Inpaint() and result.inpaint.box == (0, 0, SIDE, SIDE)
    assert result.strength == 0.6
    assert [Path(used.path).name for used in result.images_used] == ["mask.png", "init.png"]
    assert codec.decode(GenerateResult, codec.encode(result)) == result
    recorded = read_metadata(Path(result.images[0].path)).request
    assert recorded.inpaint == Inpaint() and recorded.strength == 0.6
    assert [image.sha256 for image in recorded.images] == [used.sha256 for used in result.images_used]


def test_a_changed_mask_is_told(engine, request_for, tiny_sdxl_folder, picture, mask):
    request = request_for(tiny_sdxl_folder, picture(), mask())
    recorded = read_metadata(Path(run(engine, request).images[0].path)).request
    mask((0, 0, 8, 8))
    with pytest.raises(ImageRefused, match=r"the mask has changed .* again with --mask"):
        run(engine, replace(recorded, output=request.output))


def test_each_picture_of_a_count_is_the_one_made_alone(engine, request_for, tiny_sdxl_folder, picture, mask):
    request = request_for(tiny_sdxl_folder, picture(), mask(), inpaint=Inpaint(fill="noise"))
    three = run(engine, replace(request, count=3)).images
    assert len({image.sha256 for image in three}) == 3
    for image in three:
        assert run(engine, replace(request, seed=image.seed)).images[0].sha256 == image.sha256


# ---- the masked area alone


def test_the_masked_area_is_painted_at_full_size_and_goes_back(engine, request_for, tiny_sdxl_folder, picture, mask):
    size, box = (203, 151), (150, 20, 181, 47)
    inpaint = Inpaint(area="masked", padding=5)
    request = request_for(tiny_sdxl_folder, picture(size=size), mask(box, size=size), inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (151, 203, 3) and (result.images[0].width, result.images[0].height) == size
    assert result.inpaint.box == (145, 13, 186, 54) and (result.stages[0].width, result.stages[0].height) == (64, 64)
    kept = outside(after.shape, box)
    np.testing.assert_array_equal(after[kept], pixels(request.images[0].path)[kept])
    assert not np.array_equal(after, pixels(request.images[0].path))
    assert again(engine, result, request) == result.images[0].sha256


# ---- larger pictures


@pytest.mark.parametrize("fill", ["picture", "noise"])
def test_a_picture_grows_by_any_number_of_pixels(engine, request_for, tiny_sdxl_folder, picture, fill):
    inpaint = Inpaint(left=7, right=18, bottom=3, feather=4, fill=fill)
    request = request_for(tiny_sdxl_folder, picture(), size=None, inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert (result.images[0].width, result.images[0].height) == (89, 67) == (after.shape[1], after.shape[0])
    assert (result.stages[0].width, result.stages[0].height) == (90, 68)
    assert result.strength == 1.0
    old = pixels(request.images[0].path)
    np.testing.assert_array_equal(after[: SIDE - 4, 7 + 4 : 7 + SIDE - 4], old[: SIDE - 4, 4 : SIDE - 4])
    assert after[:, 7 + SIDE + 4 :].std() > 1
    assert again(engine, result, request) == result.images[0].sha256


def test_new_parts_alone_are_painted_beside_a_large_picture(engine, request_for, tiny_sdxl_folder, picture):
    inpaint = Inpaint(area="masked", right=30, feather=4, padding=10)
    request = request_for(tiny_sdxl_folder, picture(size=(301, 97)), inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (97, 331, 3)
    np.testing.assert_array_equal(after[:, : 301 - 4], pixels(request.images[0].path)[:, : 301 - 4])
    assert again(engine, result, request) == result.images[0].sha256


def test_a_size_other_than_the_grown_one_is_refused(engine, request_for, tiny_sdxl_folder, picture):
    with pytest.raises(UsageError, match="size 64x64 is asked for, but with its new parts .* at 96x64; leave"):
        run(engine, request_for(tiny_sdxl_folder, picture(), inpaint=Inpaint(right=32)))


# ---- cascades


def test_base_and_refiner_both_keep_what_stays(
    engine, request_for, tiny_sdxl_folder, tiny_refiner_folder, picture, mask, monkeypatch
):
    handed_over = []
    entering = cascade.Keep.entering

    def watched(self, walk, latents):
        handed_over.append((latents, entering(self, walk, latents)))
        return handed_over[-1][1]

    monkeypatch.setattr(cascade.Keep, "entering", watched)
    request = request_for(
        tiny_sdxl_folder,
        picture(),
        mask(),
        steps=10,
        until=0.8,
        strength=0.9,
        stages=[Stage(model=ModelRef(id=str(tiny_refiner_folder)))],
        transitions=[Transition()],
        previews=True,
    )
    result = run(engine, request)
    kept = outside((SIDE, SIDE), HOLE)
    np.testing.assert_array_equal(pixels(result.images[0])[kept], pixels(request.images[0].path)[kept])
    assert len(result.stages) == 2 and result.stages[0].log_snr_end == result.stages[1].log_snr_start
    assert again(engine, result, request) == result.images[0].sha256
    # What the base hands over has the noise of the refiner's first level already: there is no step between them.
    torch.testing.assert_close(*handed_over[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("space", ["latent", "pixel"])
def test_a_second_pass_keeps_what_stays_at_its_own_size(engine, request_for, tiny_sdxl_folder, picture, mask, space):
    request = request_for(
        tiny_sdxl_folder,
        picture(),
        mask(),
        stages=[Stage(sampling=Sampling(steps=4))],
        transitions=[Transition(scale=2.0, strength=0.5, space=space)],
    )
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (128, 128, 3)
    larger = np.array(Image.open(request.images[0].path).resize((128, 128), Image.Resampling.LANCZOS))
    kept = outside(after.shape, tuple(2 * side for side in HOLE))
    np.testing.assert_array_equal(after[kept], larger[kept])
    assert any("what is kept is resized" in notice for notice in result.notices)
    assert again(engine, result, request) == result.images[0].sha256


def test_a_second_pass_of_a_grown_picture_grows_all_of_it(engine, request_for, tiny_sdxl_folder, picture):
    request = request_for(
        tiny_sdxl_folder,
        picture(),
        size=None,
        inpaint=Inpaint(right=31),
        stages=[Stage(sampling=Sampling(steps=4))],
        transitions=[Transition(scale=1.5, strength=0.5)],
    )
    result = run(engine, request)
    assert (result.images[0].width, result.images[0].height) == (round(95 * 1.5), 96)
    assert again(engine, result, request) == result.images[0].sha256


# ---- memory, stopping, what is left behind


def test_under_a_limit_and_after_a_shortage_it_is_the_same_picture(
    engine, request_for, tiny_sdxl_folder, picture, mask, monkeypatch
):
    request = request_for(tiny_sdxl_folder, picture(), mask(), sampler="euler_a", inpaint=Inpaint(fill="noise"))
    request = replace(request, quantization="none", text_quantization="none")
    plain = run(engine, request)
    requests, at = [], [-1]

    def refuse(number, size):
        requests.append(size)
        return number == at[0]

    monkeypatch.setattr(workroom, "open_device", partial(open_device, refuse=refuse))
    limited = replace(request, vram_limit_bytes=512 * 2**20)
    assert run(Engine(Catalog.standard()), limited).images[0].sha256 == plain.images[0].sha256
    count = len(requests)
    for at[0] in range(0, count, max(1, count // 6)):
        assert run(Engine(Catalog.standard()), limited).images[0].sha256 == plain.images[0].sha256, at


def test_a_step_that_is_done_again_is_the_same(engine, request_for, tiny_sdxl_folder, picture, mask, monkeypatch):
    request = request_for(tiny_sdxl_folder, picture(), mask(), sampler="dpmpp_2m_sde", strength=1.0)
    whole = run(engine, request)
    after, failed = cascade.Keep.after, []

    def short(self, walk, latents, index):
        if index not in failed:
            failed.append(index)
            raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")
        return after(self, walk, latents, index)

    monkeypatch.setattr(cascade.Keep, "after", short)
    assert run(engine, request).images[0].sha256 == whole.images[0].sha256
    assert failed == [0, 1, 2, 3]


def test_a_picture_that_was_not_decoded_is_put_together_later(
    engine, request_for, tiny_sdxl_folder, picture, mask, monkeypatch
):
    size = (150, 100)
    inpaint = Inpaint(area="masked", left=20)
    request = request_for(tiny_sdxl_folder, picture(size=size), mask((90, 40, 110, 60), size=size), inpaint=inpaint)

    def out_of_memory(*_):
        raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")

    with monkeypatch.context() as patch:
        patch.setattr(cascade, "to_picture", out_of_memory)
        with pytest.raises(OutOfMemory):
            run(engine, request)
    (path,) = undecoded(paths.undecoded_folder())
    late = engine.decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert (late.width, late.height) == (170, 100)
    assert late.sha256 == run(engine, request).images[0].sha256


def test_left_behind_latents_wait_for_the_pictures_they_belong_to(
    engine, request_for, tiny_sdxl_folder, picture, mask, monkeypatch
):
    request = request_for(tiny_sdxl_folder, picture(), mask())
    with monkeypatch.context() as patch:
        patch.setattr(cascade, "to_picture", lambda *_: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises((OutOfMemory, MemoryError)):
            run(engine, request)
    (path,) = undecoded(paths.undecoded_folder())
    Path(request.images[0].path).unlink()
    with pytest.raises(ImageRefused, match=r"init\.png"):
        engine.decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert path.exists()


def test_cancel_within_one_step(engine, request_for, tiny_sdxl_folder, picture, mask, tmp_path):
    events = []
    with pytest.raises(Cancelled):
        run(
            engine,
            request_for(tiny_sdxl_folder, picture(), mask(), steps=8, strength=1.0),
            events,
            cancelled=lambda: sum(isinstance(event, Step) for event in events) >= 2,
        )
    assert sum(isinstance(event, Step) for event in events) == 2
    assert not list(tmp_path.glob("out/*"))


def test_previews_come_with_every_step(engine, request_for, tiny_sdxl_folder, picture, mask):
    events = []
    request = request_for(tiny_sdxl_folder, picture(), mask(), previews=True, strength=1.0)
    plain = run(engine, replace(request, previews=False))
    assert run(engine, request, events).images[0].sha256 == plain.images[0].sha256
    assert all(event.preview for event in events if isinstance(event, Step))


# ---- the bundled model


@pytest.mark.parametrize("model", ["starter-xl", "starter-dit"])
def test_another_house_in_the_same_place(engine, request_for, tmp_path, model):
    """What is painted over with other words is what they say, and all around it stays."""
    first = run(engine, request_for(model, size=None, steps=12))
    hole = Image.new("L", (128, 128))
    ImageDraw.Draw(hole).rectangle((12, 36, 115, 119), fill=255)
    hole.save(tmp_path / "hole.png")
    images = (ImageInput(path=first.images[0].path), ImageInput(path=str(tmp_path / "hole.png"), role="mask"))
    request = request_for(model, *images, size=None, steps=12, count=4, inpaint=Inpaint(fill="noise"))
    request = replace(request, prompt="a yellow tent by the sea at dusk")
    made = run(engine, request).images
    kept = np.asarray(hole) == 0
    for image in made:
        np.testing.assert_array_equal(pixels(image)[kept], pixels(first.images[0])[kept])
    judge = load_judge(bundled_judge())
    with torch.inference_mode():
        verdicts = judge(pixels_of([Image.open(image.path) for image in made]))
    assert [KINDS[int(i)] for i in verdicts["kind"].argmax(dim=1)].count("tent") >= 3
    assert [COLOURS[int(i)] for i in verdicts["colour"].argmax(dim=1)].count("yellow") >= 3


@pytest.mark.parametrize("area", ["whole", "masked"])
def test_new_parts_go_on_from_the_old_without_a_step(engine, request_for, area):
    """The rows of pixels at the seam differ no more than rows elsewhere do."""
    first = run(engine, request_for("starter-xl", size=None, steps=12))
    inpaint = Inpaint(area=area, right=64, padding=64)
    image = ImageInput(path=first.images[0].path)
    grown = run(engine, request_for("starter-xl", image, size=None, steps=12, inpaint=inpaint, count=2)).images
    for made in grown:
        steps = np.abs(np.diff(pixels(made).astype(float), axis=1)).mean(axis=(0, 2))
        assert steps.shape == (191,)
        assert steps[118:130].max() < 2 * np.quantile(steps, 0.95)


# ---- the command line


@pytest.fixture
def command(capsys, tmp_path, tiny_sdxl_folder):
    def call(code, *words):
        how = ("-m", tiny_sdxl_folder, "--steps", "4", "--seed", "7", "-o", f"{tmp_path}/out/")
        assert main([str(word) for word in ("generate", PROMPT, *how, *words)]) == code
        return capsys.readouterr()

    return call


def test_the_command_line_makes_what_the_engine_makes(
    engine, request_for, tiny_sdxl_folder, picture, mask, command, capsys
):
    init, hole = picture(size=(90, 70)), mask((20, 20, 50, 40), size=(90, 70))
    inpaint = Inpaint(area="masked", padding=9, feather=3, fill="blur", right=6, bottom=10)
    request = replace(request_for(tiny_sdxl_folder, init, hole, inpaint=inpaint), attention="auto")
    words = (
        "--inpaint-area masked --inpaint-padding 9 --inpaint-feather 3 --inpaint-fill blur --outpaint right=6,bottom=10"
    )
    said = command(0, "--size", "64x64", "--init", init.path, "--mask", hole.path, *words.split(), "--json", "--quiet")
    made = codec.decode(GenerateResult, json.loads(said.out))
    assert made.images[0].sha256 == run(engine, request).images[0].sha256
    assert main(["generate", "--from", made.images[0].path, "-o", made.images[0].path, "--json", "--quiet"]) == 0
    replayed = codec.decode(GenerateResult, json.loads(capsys.readouterr().out))
    assert replayed.images[0].sha256 == made.images[0].sha256
    assert replayed.inpaint == made.inpaint


def test_a_picture_grows_with_its_own_words(command, capsys, tmp_path):
    first = command(0, "--size", "64x64").out.strip()
    assert (
        main(["generate", "--from", first, "--init", first, "--outpaint", "0,0,32,0", "-o", f"{tmp_path}/b.png"]) == 0
    )
    assert Image.open(tmp_path / "b.png").size == (96, 64)
    assert "error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--mask", "MASK"), 2, "--mask says which part of an init picture"),
        (("--outpaint", "1,2,3,4"), 2, "--outpaint makes an init picture larger"),
        (("--init", "INIT", "--inpaint-feather", "3"), 2, "--inpaint-feather is about inpainting"),
        (("--init", "INIT", "--mask", "MASK", "--inpaint-feather", "300"), 2, "from 0 to 256"),
        (("--init", "INIT", "--mask", "BLACK"), 2, "nothing to make anew: the lightest pixel .* is 40 of 255"),
        (("--init", "INIT", "--mask", "WIDE"), 2, "is 64x32, the picture 64x64: they must have the same shape"),
        (("--init", "INIT", "--mask", "TEXT"), 7, "TEXT holds text, not a picture"),
        (("--init", "INIT", "--mask", "NOTHING"), 7, "NOTHING"),
        (("--init", "INIT", "--mask", "FIFO"), 7, "FIFO is a pipe, not a picture"),
        (("--init", "INIT", "--mask", "HALF"), 7, "HALF is damaged or incomplete"),
        (("--init", "INIT", "--outpaint", "right=999999,bottom=9999"), 2, "at most 100 million can be"),
        (("--init", "INIT", "--outpaint", "right=8999,bottom=8999"), 2, "at most 64 megapixels"),
        (("--init", "INIT", "--outpaint", "right=32", "--size", "64x64"), 2, "worked on at 96x64; leave the size out"),
        (("--init", "INIT", "--mask", "MASK", "--strength", "0"), 2, "left with no step"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(command, picture, mask, tmp_path, words, code, message):
    import os
    import re

    files = {name: str(tmp_path / name) for name in ("BLACK", "WIDE", "TEXT", "NOTHING", "FIFO", "HALF")}
    files |= {"INIT": picture().path, "MASK": mask().path}
    Image.new("L", (SIDE, SIDE), 40).save(files["BLACK"], "PNG")
    Image.new("L", (SIDE, SIDE // 2), 255).save(files["WIDE"], "PNG")
    Path(files["TEXT"]).write_text("not a picture")
    Image.effect_noise((SIDE, SIDE), 90).save(files["HALF"], "PNG")
    Path(files["HALF"]).write_bytes(Path(files["HALF"]).read_bytes()[:1500])
    os.mkfifo(files["FIFO"])
    said = command(code, *(files.get(word, word) for word in words))
    errors = [line for line in said.err.splitlines() if line.startswith("mezzotint: error: ")]
    assert len(errors) == 1 and re.search(message, errors[0]), said.err
    assert "Traceback" not in said.err and not (tmp_path / "out").exists()


def test_what_is_told_comes_as_a_notice(engine, request_for, tiny_sdxl_folder, picture, mask):
    events = []
    size = (200, 200)
    inpaint = Inpaint(area="masked")
    request = request_for(tiny_sdxl_folder, picture(size=size), mask((40, 40, 160, 160), size=size), inpaint=inpaint)
    run(engine, request, events)
    assert "painted_smaller" in [event.code for event in events if isinstance(event, Notice)]

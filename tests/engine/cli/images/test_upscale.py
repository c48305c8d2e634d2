"""`mezzotint upscale`: how it is asked, and what becomes of several images."""

import dataclasses

from fake_engine import FakeEngine
from PIL import Image

from mezzotint.errors import ImageRefused
from mezzotint.library_protocol import UpscaledImage, UpscalerUsed
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageMetadata,
    ModelRef,
    Progress,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.values.sizes import AUTO_TILE


class Upscaling(FakeEngine):
    """Files called `bad` are refused."""

    def upscale(self, request, on_event, cancelled):
        self.requests.append(request)
        if "bad" in request.path:
            raise ImageRefused("it is no image")
        on_event(Progress(what="upscaling", done=1, total=1, unit="tiles"))
        used = UpscalerUsed(path="x", sha256="0", architecture="Compact", scale=2, dtype="float32", width=16, height=16)
        return UpscaledImage(
            path=f"{request.path}-2x",
            width=16,
            height=16,
            sha256="0",
            upscaler=used,
            passes=1,
            tile=512,
            device="cpu",
            memory=None,
        )


def test_options_arrive(command):
    words = ("a.png", "--upscaler", "4x", "--scale", "1.5", "-o", "x.png", "--tile", "128", "--vram-limit", "4GB")
    done = command("upscale", *words, "--device", "cpu", "--dtype", "float16", engine=Upscaling())
    asked = done.request
    assert (asked.path, asked.upscaler, asked.scale, asked.tile) == ("a.png", "4x", 1.5, 128)
    assert (asked.output.path, asked.device, asked.dtype, asked.vram_limit_bytes) == (
        "x.png",
        "cpu",
        "float16",
        4 << 30,
    )
    assert done.code == 0 and done.out == "a.png-2x\n"


def test_folders_are_their_images(command, tmp_path):
    for name in ("b.jpg", "a.png", "notes.txt"):
        (tmp_path / name).touch()
    done = command("upscale", str(tmp_path), "--json", engine=Upscaling())
    assert [one["path"] for one in done.json["images"]] == [f"{tmp_path}/a.png-2x", f"{tmp_path}/b.jpg-2x"]


def test_a_bad_image_stops_no_other(command):
    done = command("upscale", "a.png", "bad.png", "c.png", engine=Upscaling())
    assert done.code == 3 and done.out.splitlines() == ["a.png-2x", "c.png-2x"] and "it is no image" in done.err


def test_what_cannot_work_is_said(command, tmp_path):
    assert "which image" in command("upscale", engine=Upscaling()).err
    assert "contains no images" in command("upscale", str(tmp_path), engine=Upscaling()).err
    assert "name a folder" in command("upscale", "a.png", "b.png", "-o", "x.png", engine=Upscaling()).err
    assert "from 1 to 16" in command("upscale", "a.png", "--scale", "99", engine=Upscaling()).err


def test_upscalers_are_listed(command):
    assert command("upscale", "--list").out.splitlines() == ["starter-2x", "4x-Sharp"]
    assert command("upscale", "--list", "--json").json == {"upscalers": ["starter-2x", "4x-Sharp"]}


def metadata(**changes):
    fields = dict.fromkeys(field.name for field in dataclasses.fields(ImageMetadata))
    return ImageMetadata(**fields | {"program": "unknown", "other": {}} | changes)


def test_with_a_strength_a_model_adds_detail_in_tiles(command, tmp_path):
    Image.new("RGB", (100, 64)).save(tmp_path / "[a].png")
    words = ("--strength", "0.3", "--prompt", "a house", "--scale", "4", "--tile-control", "tile.safetensors")
    done = command("upscale", str(tmp_path / "[a].png"), *words, "--upscaler", "4x", metadata=metadata())
    asked, (stage,) = done.request, done.request.cascade.stages
    assert (asked.prompt, asked.strength, asked.init_upscaler) == ("a house", 0.3, "4x")
    assert (stage.width, stage.height, stage.sampling.denoise_tile) == (384, 256, AUTO_TILE)
    assert (asked.images[0].path, asked.controls[0].image) == (str(tmp_path / "[a].png"),) * 2
    assert (asked.controls[0].model, asked.controls[0].type) == ("tile.safetensors", "tile")
    assert asked.output.path == str(tmp_path / "[[a]-4x.png")
    assert done.code == 0 and len(done.out.splitlines()) == 1


def test_what_made_an_image_also_enlarges_it(command, tmp_path):
    stages = (Stage(model=ModelRef(id="base"), sampling=Sampling(steps=7)), Stage())
    made = GenerateRequest(
        prompt="a tree", seed=5, cascade=Cascade(stages=stages, transitions=(Transition(strength=0.5),)), count=3
    )
    Image.new("RGB", (64, 64)).save(tmp_path / "a.png")
    words = ("--strength", "0.2", "--steps", "9")
    done = command("upscale", str(tmp_path / "a.png"), *words, metadata=metadata(request=made))
    (stage,) = done.request.cascade.stages
    assert (done.request.prompt, done.request.seed, done.request.count, done.request.init_upscaler) == (
        "a tree",
        5,
        1,
        "starter-2x",
    )
    assert (stage.model.id, stage.sampling.steps, stage.width) == ("base", 9, 128)


def test_options_of_a_second_pass_need_a_strength(command):
    assert "add --strength" in command("upscale", "a.png", "--seed", "5", engine=FakeEngine()).err
    assert "--tile is for" in command("upscale", "a.png", "--strength", "0.3", "--tile", "64", engine=FakeEngine()).err

"""`mezzotint upscale`: how it is asked, and what becomes of several images."""

from fake_engine import FakeEngine

from mezzotint.errors import ImageRefused
from mezzotint.library_protocol import UpscaledImage, UpscalerUsed
from mezzotint.protocol import Progress


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

"""A folder of everything that goes wrong with images and names, through the command: each is told, none ends it."""

import io
import os
import socket
import struct
import sys
import zlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from batch_programs import StandIn
from PIL import Image, ImageCms

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.tasks.inputs import folded
from mezzotint.images.naming import NameFields, check_output, image_path
from mezzotint.stages.images.input_images import read_inputs
from mezzotint.stages.images.request_images import request_images

ORIENTATION = 0x0112
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="names, links and pipes of POSIX")


class Reading(StandIn):
    """Reads its image and settles its name as the engine does, before it paints."""

    def __init__(self, before=lambda request: None):
        super().__init__()
        self.before, self.inits = before, {}

    def write(self, request):
        self.before(request)
        check_output(request.output, 1)
        init = read_inputs(request.images, request_images(request), [(64, 64)], lambda: False).init
        self.inits.update({Path(one.path).name: init for one in request.images})
        fields = NameFields(
            seed=request.seed, prompt="", model="", width=1, height=1, steps=1, sampler="", index=0, count=1,
            now=datetime(2026, 1, 1),
        )  # fmt: skip
        output = replace(request.output, path=str(image_path(request.output, fields)))
        return super().write(replace(request, output=output))


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """An empty folder `in`, in the one that is worked in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def batch(command):
    """Runs `mezzotint batch in -o out` with words for all images."""

    def call(*words, engine=None):
        said = ("--prompt", "at night", "--strength", "0.5")
        done = command("batch", "in", "-o", "out", *said, *words, engine=engine or Reading())
        assert "Traceback" not in done.err
        return done

    return call


def what_became(folder):
    """Status and kind of everything by its input."""
    return {record.input: (record.status, record.kind) for record in read_ledger(folder / "out").records().values()}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def encoded(image, form, **said):
    data = io.BytesIO()
    image.save(data, form, **said)
    return data.getvalue()


def good_images(folder):
    """Everything odd that is an image for all that, and the size that it has upright."""
    wide = Image.new("RGB", (40, 20), "red")
    turned = Image.Exif()
    turned[ORIENTATION] = 6
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    frames = {"save_all": True, "append_images": [Image.new("RGB", (40, 20), "blue")]}
    made = {
        "cmyk.jpg": encoded(wide.convert("CMYK"), "JPEG"),
        "deep.png": encoded(Image.new("I;16", (40, 20), 30_000), "PNG"),
        "palette.png": encoded(wide.convert("P"), "PNG", transparency=0),
        "profile.jpg": encoded(wide, "JPEG", icc_profile=profile),
        "broken-profile.png": encoded(wide, "PNG", icc_profile=b"\xff" * 200),
        "frames.webp": encoded(wide, "WEBP", **frames),
        "frames.gif": encoded(wide, "GIF", **frames),
        "a-tiff.png": encoded(wide, "TIFF"),
    }
    sizes = dict.fromkeys(made, (40, 20))
    png, text = made["deep.png"], chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(1 << 20), 9)) * 100
    made |= {"texts.png": png[:33] + text + png[33:], "late-texts.png": png[:-12] + text + png[-12:]}
    sizes |= {"texts.png": (40, 20), "late-texts.png": (40, 20)}
    made |= {
        "turned.jpg": encoded(wide, "JPEG", exif=turned),
        "one.png": encoded(Image.new("RGB", (1, 1)), "PNG"),
        "long.png": encoded(Image.new("RGB", (1, 20_000)), "PNG"),
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return sizes | {"turned.jpg": (20, 40), "one.png": (1, 1), "long.png": (1, 20_000)}


def bad_images(folder):
    """Everything that is none, and what is to become of it."""
    noise = Image.effect_noise((64, 64), 90).convert("RGB")
    png, jpeg = encoded(noise, "PNG"), encoded(noise, "JPEG")
    head = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(2501) * 20_000, 9))
    unreadable = {
        "bomb.png": png[:8] + chunk(b"IHDR", head) + pixels + png[-12:],
        "empty.png": b"",
        "zeros.png": bytes(100),
        "words.jpg": b"Dear diary",
    }
    failed = {
        "cut.png": png[: len(png) // 2],
        "cut.jpg": jpeg[: len(jpeg) // 2],
    }
    for name, data in (unreadable | failed).items():
        (folder / name).write_bytes(data)
    return dict.fromkeys(unreadable | failed, ("failed", "image_refused"))


@pytest.mark.parametrize("together", ["1", "4"])
def test_bad_images_are_told_and_odd_ones_made(batch, photos, tmp_path, together):
    sizes, bad = good_images(photos), bad_images(photos)
    engine = Reading()
    done = batch("--batch-size", together, engine=engine)
    assert (done.code, len(done.out.splitlines())) == (3, len(sizes))
    assert what_became(tmp_path) == bad | dict.fromkeys(sizes, ("done", None))
    assert all(f"{name}: " in done.err for name in bad)
    assert {name: (init.mode, init.size) for name, init in engine.inits.items()} == {
        name: ("RGB", size) for name, size in sizes.items()
    }
    again = batch("--batch-size", together)
    assert (again.code, again.out, again.engine.requests) == (3, "", [])


def test_an_input_that_cannot_be_read_fails_until_it_is_mended_or_taken_away(batch, command, photos, tmp_path):
    Image.new("RGB", (8, 8)).save(photos / "a.png")
    (photos / "notes.txt").write_text("no image")
    for name in ("mended.png", "removed.png"):
        (photos / name).write_bytes(b"")
    said = ("--glob", "*")
    assert (batch(*said).code, batch(*said).code) == (3, 3)  # again with nothing left to make
    status = command("batch", "status", "out").out.splitlines()
    assert "failed       2 (2 image_refused)" in status and "skipped      1" in status
    Image.new("RGB", (8, 8)).save(photos / "mended.png")
    assert batch(*said).code == 3
    (photos / "removed.png").unlink()
    assert batch(*said).code == 0
    assert what_became(tmp_path) == {
        "a.png": ("done", None),
        "mended.png": ("done", None),
        "notes.txt": ("skipped", "not_an_image"),
    }


def test_a_manifest_that_skipped_unreadable_inputs_goes_on(batch, photos, tmp_path):
    (photos / "broken.png").write_bytes(b"")
    assert batch().code == 3
    (path,) = (tmp_path / "out").glob("*.jsonl")
    lines = path.read_text("utf-8").replace('"status": "failed"', '"status": "skipped"').splitlines(keepends=True)
    path.write_text("".join(lines), "utf-8")  # as 0.1 wrote it
    assert what_became(tmp_path) == {"broken.png": ("skipped", "image_refused")}
    assert batch().code == 3
    assert what_became(tmp_path) == {"broken.png": ("failed", "image_refused")}


@POSIX
def test_what_is_no_file_is_told_and_not_waited_for(batch, photos, tmp_path):
    Image.new("RGB", (8, 8)).save(photos / "a.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "outside.png")
    os.mkfifo(photos / "pipe.png")
    os.mkfifo(photos / "a.txt")
    for name, target in (("loop", "loop.png"), ("zero", "/dev/zero"), ("out", "../outside.png"), ("gone", "none.png")):
        (photos / f"{name}.png").symlink_to(target)
    (photos / "below").mkdir()
    (photos / "below" / "up").symlink_to("..")
    (photos / os.fsdecode(b"\xff.png" if sys.platform == "linux" else b"\x01.png")).write_bytes(b"")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("in/socket.png")  # their names may not be long
        done = batch("--recursive")
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    links = dict.fromkeys(("loop.png", "zero.png", "out.png", "gone.png", "below/up"), ("skipped", "link"))
    odd = dict.fromkeys(("pipe.png", "socket.png"), ("skipped", "not_a_file"))
    name = "\\xff.png" if sys.platform == "linux" else "\\x01.png"
    assert what_became(tmp_path) == {"a.png": ("done", None), name: ("skipped", "name")} | links | odd
    done = batch("--sidecars", "--existing", "skip")
    assert done.code == 0 and "a.png: its text file cannot be used" in done.err


@POSIX
def test_images_that_change_between_the_look_and_the_use_are_told_as_that(batch, photos, tmp_path):
    """As the engine meets it: the run has looked at them, and then they are others, gone, or pipes."""
    for name in ("changed", "gone", "pipe", "same"):
        Image.new("RGB", (8, 8)).save(photos / f"{name}.png")

    def change(request):
        path = Path(request.images[0].path)
        if path.stem == "changed":
            Image.new("RGB", (8, 8), "blue").save(path)
        elif path.stem != "same":
            path.unlink()
            os.mkfifo(path) if path.stem == "pipe" else None

    done = batch("--batch-size", "1", engine=Reading(change))
    assert (done.code, len(done.out.splitlines())) == (3, 1)
    changed = dict.fromkeys(("changed.png", "gone.png", "pipe.png"), ("failed", "input_changed"))
    assert what_became(tmp_path) == changed | {"same.png": ("done", None)}
    assert "has changed since the job was planned: run again to use it as it is now" in done.err
    again = batch()
    assert (again.code, [Path(path).name for path in again.out.splitlines()]) == (3, ["changed.png"])


def around(folder):
    """Everything in a folder but what is below its folder `out`, and everything beside it."""
    inside = {path for path in folder.rglob("*") if folder / "out" not in path.parents}
    return inside | set(folder.parent.iterdir())


def test_hostile_names_stay_in_the_output_folder_and_none_comes_twice(command, photos, tmp_path):
    """Cells of a table, which may come from anywhere, decide the names."""
    cells = [
        *("../../x", "/abs/x", "C:\\x", "..", ".", "CON", "con.png", "nul ", "a.", "a", "A", "a:b", "-rf", "~/x"),
        *("\u00e4", "a\u0308", "\U0001f600", "x" * 300, "X" * 301, "[seed]", "$(touch x)", "\u202egnp", ""),
    ]
    rows = "".join(f'number {number},"{cell}"\n' for number, cell in enumerate(cells))
    (tmp_path / "t.csv").write_text(f"prompt,thing\n{rows}", "utf-8")
    before = around(tmp_path)
    words = ("--table", "t.csv", "-o", "out", "--name", "[thing]/[thing]")
    done = command("batch", *words, engine=Reading())
    assert (done.code, len(done.out.splitlines())) == (0, len(cells))
    names = [Path(path).relative_to(tmp_path / "out").as_posix() for path in done.out.splitlines()]
    assert all((tmp_path / "out" / name).is_file() for name in names)
    assert len({folded(name) for name in names}) == len(cells)
    assert around(tmp_path) == before | {tmp_path / "out"}
    for name in names:
        assert not PureWindowsPath(name).is_reserved()
        assert all(len(part.encode()) <= 255 for part in PurePosixPath(name).parts)


@pytest.mark.parametrize("name", ["../x", "/abs/x", "a/../../x", "a//b", " ", "..", "a\nb"])
def test_templates_that_lead_out_are_refused_before_anything(batch, photos, tmp_path, name):
    Image.new("RGB", (8, 8)).save(photos / "a.png")
    done = batch("--name", name)
    assert (done.code, done.engine.requests) == (2, [])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("further", [(), ("--dry-run",)])
def test_a_folder_whose_name_nothing_can_be_shown_by_is_refused_before_anything(batch, photos, tmp_path, further):
    Image.new("RGB", (8, 8)).save(photos / "a.png")
    done = batch("-o", "out\a", *further)
    assert (done.code, done.engine.requests) == (2, []) and "control character" in done.err
    assert not list(tmp_path.glob("out*"))


@pytest.mark.skipif(sys.platform != "linux", reason="other disks take these names for one")
def test_twins_on_other_disks_get_names_of_their_own_and_what_is_there_is_kept(batch, photos, tmp_path):
    names = ["A.png", "a.png", "a.jpg", "\u00e4.png", "a\u0308.png", "a-2.png"]
    for name in names:
        Image.new("RGB", (8, 8)).save(photos / name)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "A.png").write_text("mine")
    done = batch()
    made = [Path(path).name for path in done.out.splitlines()]
    assert (done.code, len({folded(name) for name in made})) == (0, len(names))
    assert "A.png" not in made and (tmp_path / "out" / "A.png").read_text() == "mine"
    again = batch()
    assert (again.code, again.out, again.engine.requests) == (0, "", [])

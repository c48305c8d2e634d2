"""Inpainting on the command line: what the engine makes, and bad input in one line."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from inpaint_requests import PROMPT, SIDE, engine, image, mask, request_for, run
from PIL import Image

from mezzotint import codec
from mezzotint.cli import main
from mezzotint.protocol import (
    GenerateResult,
    Inpaint,
    Notice,
)

pytestmark = pytest.mark.usefixtures("every_device")

__all__ = ["engine", "image", "mask", "request_for"]  # fixtures


@pytest.fixture
def command(capsys, tmp_path, tiny_sdxl_folder):
    def call(code, *words):
        how = ("-m", tiny_sdxl_folder, "--steps", "4", "--seed", "7", "--dtype", "float32", "-o", f"{tmp_path}/out/")
        assert main([str(word) for word in ("generate", PROMPT, *how, *words)]) == code
        return capsys.readouterr()

    return call


@pytest.mark.slow
def test_the_command_line_makes_what_the_engine_makes(
    engine, request_for, tiny_sdxl_folder, image, mask, command, capsys
):
    init, hole = image(size=(90, 70)), mask((20, 20, 50, 40), size=(90, 70))
    inpaint = Inpaint(area="masked", padding=9, feather=3, fill="blur", right=6, bottom=10)
    request = replace(request_for(tiny_sdxl_folder, init, hole, inpaint=inpaint), attention="auto")
    words = (
        "--inpaint-area masked --inpaint-padding 9 --inpaint-feather 3 --inpaint-fill blur --outpaint right=6,bottom=10"
    )
    said = command(0, "--size", "64x64", "--init", init.path, "--mask", hole.path, *words.split(), "--json", "--quiet")
    made = codec.decode(GenerateResult, json.loads(said.out))
    assert made.images[0].sha256 == run(engine, request).images[0].sha256
    engine.close()  # what it keeps on a card would be measured with the next one's
    assert main(["generate", "--from", made.images[0].path, "-o", made.images[0].path, "--json", "--quiet"]) == 0
    replayed = codec.decode(GenerateResult, json.loads(capsys.readouterr().out))
    assert replayed.images[0].sha256 == made.images[0].sha256
    assert replayed.inpaint == made.inpaint


@pytest.mark.slow
def test_an_image_grows_with_its_own_words(command, capsys, tmp_path):
    first = command(0, "--size", "64x64").out.strip()
    assert (
        main(["generate", "--from", first, "--init", first, "--outpaint", "0,0,32,0", "-o", f"{tmp_path}/b.png"]) == 0
    )
    assert Image.open(tmp_path / "b.png").size == (96, 64)
    assert "error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--mask", "MASK"), 2, "--mask requires an init image"),
        (("--outpaint", "1,2,3,4"), 2, "--outpaint requires an init image"),
        (("--init", "INIT", "--inpaint-feather", "3"), 2, "--inpaint-feather requires --mask or --outpaint"),
        (("--init", "INIT", "--mask", "MASK", "--inpaint-feather", "300"), 2, "from 0 to 256"),
        (("--init", "INIT", "--mask", "BLACK"), 2, "nothing to inpaint: the lightest pixel .* is 40 of 255"),
        (("--init", "INIT", "--mask", "WIDE"), 2, "is 64x32, the image 64x64: they must have the same aspect ratio"),
        (("--init", "INIT", "--mask", "TEXT"), 7, "TEXT contains text, not an image"),
        (("--init", "INIT", "--mask", "NOTHING"), 7, "NOTHING"),
        (("--init", "INIT", "--mask", "FIFO"), 7, "FIFO is a pipe, not an image"),
        (("--init", "INIT", "--mask", "HALF"), 7, "HALF is damaged or incomplete"),
        (("--init", "INIT", "--outpaint", "right=999999,bottom=9999"), 2, "at most 100 million are allowed"),
        (("--init", "INIT", "--outpaint", "right=8999,bottom=8999"), 2, "at most 64 megapixels"),
        (("--init", "INIT", "--outpaint", "right=32", "--size", "64x64"), 2, "generated at 96x64; leave the size out"),
        (("--init", "INIT", "--mask", "MASK", "--strength", "0"), 2, "has no steps left"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(command, image, mask, tmp_path, words, code, message):
    files = {name: str(tmp_path / name) for name in ("BLACK", "WIDE", "TEXT", "NOTHING", "FIFO", "HALF")}
    files |= {"INIT": image().path, "MASK": mask().path}
    Image.new("L", (SIDE, SIDE), 40).save(files["BLACK"], "PNG")
    Image.new("L", (SIDE, SIDE // 2), 255).save(files["WIDE"], "PNG")
    Path(files["TEXT"]).write_text("not an image")
    Image.effect_noise((SIDE, SIDE), 90).save(files["HALF"], "PNG")
    Path(files["HALF"]).write_bytes(Path(files["HALF"]).read_bytes()[:1500])
    os.mkfifo(files["FIFO"])
    said = command(code, *(files.get(word, word) for word in words))
    errors = [line for line in said.err.splitlines() if line.startswith("mezzotint: error: ")]
    assert len(errors) == 1 and re.search(message, errors[0]), said.err
    assert "Traceback" not in said.err and not (tmp_path / "out").exists()


def test_what_is_told_comes_as_a_notice(engine, request_for, tiny_sdxl_folder, image, mask):
    events = []
    size = (200, 200)
    inpaint = Inpaint(area="masked")
    request = request_for(tiny_sdxl_folder, image(size=size), mask((40, 40, 160, 160), size=size), inpaint=inpaint)
    run(engine, request, events)
    assert "painted_smaller" in [event.code for event in events if isinstance(event, Notice)]

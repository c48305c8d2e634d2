"""`mezzotint styles`, and `--style` of `generate`."""

import pytest
from PIL import Image

from mezzotint.protocol import GenerateRequest, ImageMetadata, Sampling
from mezzotint.request_protocol import Cascade, Stage

METADATA = ImageMetadata(
    program="mezzotint",
    prompt="a boat",
    negative_prompt="fog",
    **dict.fromkeys(
        ("width", "height", "seed", "steps", "sampler", "schedule", "guidance_scale", "strength", "model", "model_hash")
    ),
    request=GenerateRequest(
        prompt="a boat",
        negative_prompt="fog",
        seed=7,
        dtype="float32",
        cascade=Cascade(stages=(Stage(sampling=Sampling(steps=9, clip_skip=0)),)),
    ),
    other={},
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path / "config"))
    return tmp_path


def test_saved_from_an_image_listed_used_and_removed(command, folder):
    Image.new("RGB", (8, 8)).save(folder / "a.png")
    image = str(folder / "a.png")
    done = command("styles", "save", "dusk", "--from", image, "--prompt", "{prompt} at dusk", metadata=METADATA)
    assert (done.code, done.out) == (0, "dusk\n")
    (saved, *_) = command("styles", "list", "--json").json["styles"]
    assert (saved["settings"], saved["negative"]) == ({"steps": 9}, "fog")
    assert command("styles", "list").out.splitlines()[1].split() == [
        "dusk",
        "own",
        "{prompt}",
        "at",
        "dusk;",
        "steps",
        "9",
    ]
    request = command("generate", "a tree", "--style", "DUSK").request
    assert (request.prompt, request.negative_prompt, request.styles) == ("a tree at dusk", "fog", ("DUSK",))
    assert command("styles", "save", "dusk", "--from", image, metadata=METADATA).code == 2
    assert command("styles", "remove", "dusk").code == 0
    assert "there is no style dusk" in command("generate", "a tree", "--style", "dusk").err


def test_imported_with_what_was_renamed(command, folder):
    (folder / "styles.csv").write_text("name,prompt,group\nMacro,close,lenses\n")
    done = command("styles", "import", str(folder / "styles.csv"))
    assert done.out == "1 styles added, 0 unchanged\n"
    assert "notice: styles.csv: not used: group (of 1 style)" in done.err
    assert "Macro is taken by other settings: imported as Macro (2)" in done.err


def test_an_image_of_another_program_has_nothing_to_save(command):
    other = ImageMetadata(**dict.fromkeys(ImageMetadata.__slots__) | {"program": "a1111", "other": {}})
    assert "not made by Mezzotint" in command("styles", "save", "x", "--from", "a.png", metadata=other).err

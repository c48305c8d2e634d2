"""The files that records name are found where the user has them, and no other path in a record is opened."""

import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.places import Places
from mezzotint.library.recorded_files import RecordedFiles
from mezzotint.paths import state_folder
from mezzotint.protocol import (
    Cascade,
    ControlRef,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Stage,
    Transition,
)
from mezzotint.values.regions import RegionRef


def put(path: Path, data: bytes = b"content") -> tuple[Path, str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path, hashlib.sha256(data).hexdigest()


@pytest.fixture
def files(tmp_path):
    """The finder of an image in `images`, with models in `models`."""
    (tmp_path / "models").mkdir()
    return RecordedFiles(folders=(tmp_path / "images",), catalog=lambda: Catalog(Places(models=tmp_path / "models")))


def with_init(path: str, sha256: str | None = None, **more) -> GenerateRequest:
    return GenerateRequest(
        prompt="x", strength=0.5, images=(ImageInput(path=path, role="init", sha256=sha256),), **more
    )


def test_an_image_beside_is_found_by_its_name(files, tmp_path):
    path, sha256 = put(tmp_path / "images" / "init.png")
    found = files.located(with_init("init.png", sha256))
    assert (found.images[0].path, found.strength, files.missing) == (str(path), 0.5, [])


def test_another_file_of_that_name_is_not_taken(files, tmp_path):
    put(tmp_path / "images" / "init.png", b"another")
    found = files.located(with_init("init.png", hashlib.sha256(b"content").hexdigest()))
    assert (found.images, found.strength) == ((), None)
    assert files.missing == ["init image init.png, which is neither beside it nor in the gallery"]


def test_the_gallery_knows_where_an_image_is(files, tmp_path):
    path, sha256 = put(tmp_path / "elsewhere" / "50%_init.png")
    other, _ = put(tmp_path / "elsewhere" / "50xxinit.png")
    state_folder().mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(state_folder() / "gallery.db") as gallery:
        gallery.execute("CREATE TABLE images (path TEXT, readable INTEGER, made REAL)")
        gallery.executemany("INSERT INTO images VALUES (?, 1, 0)", [(str(path),), (str(other),)])
    assert files.located(with_init("50%_init.png", sha256)).images[0].path == str(path)


def test_a_damaged_gallery_knows_nothing(files):
    put(state_folder() / "gallery.db", b"garbage" * 100)
    assert files.located(with_init("init.png")).images == ()


@pytest.mark.parametrize(
    "recorded", ["/etc/passwd", "{}/secret/key.png", "\\\\host\\share\\a.png", "//host/share/a.png"]
)
def test_paths_of_older_records_are_followed_inside_the_given_folders_only(files, tmp_path, recorded):
    inside, sha256 = put(tmp_path / "images" / "below" / "init.png")
    assert files.located(with_init(str(inside), sha256)).images[0].path == str(inside)
    put(tmp_path / "secret" / "key.png")
    assert files.located(with_init(recorded.format(tmp_path))).images == ()
    assert len(files.missing) == 1


def test_links_do_not_lead_out_of_the_given_folders(files, tmp_path):
    secret, _ = put(tmp_path / "secret" / "key.png")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "way").symlink_to(secret.parent)
    assert files.located(with_init(str(tmp_path / "images" / "way" / "key.png"))).images == ()


def test_files_of_models_are_found_in_their_folders(files, tmp_path):
    lora, _ = put(tmp_path / "models" / "loras" / "styles" / "ink.safetensors")
    vae, _ = put(tmp_path / "models" / "vae" / "better.safetensors")
    words, _ = put(tmp_path / "models" / "embeddings" / "cat.pt")
    encoder, _ = put(tmp_path / "models" / "clip_vision" / "h.safetensors")
    control, _ = put(tmp_path / "models" / "controlnet" / "canny.safetensors")
    drawing, _ = put(tmp_path / "images" / "drawing.png")
    stage = Stage(model=ModelRef(id="base", vae="better.safetensors"))
    request = GenerateRequest(
        prompt="x",
        cascade=Cascade(stages=(stage,)),
        loras=(LoraRef(path="C:\\loras\\ink.safetensors", weight=0.5), LoraRef(path="gone.safetensors")),
        embeddings=("cat.pt",),
        controls=(ControlRef(image="drawing.png", model="canny.safetensors", encoder="h.safetensors"),),
    )
    found = files.located(request)
    assert found.loras == (LoraRef(path=str(lora), weight=0.5),)
    assert found.embeddings == (str(words),)
    assert found.cascade.stages[0].model == ModelRef(id="base", vae=str(vae))
    assert found.controls == (ControlRef(image=str(drawing), model=str(control), encoder=str(encoder)),)
    assert files.missing == ["LoRA gone.safetensors, which no folder of models has"]


def test_names_that_are_looked_up_later_stay(files):
    stages = (Stage(model=ModelRef(id="stabilityai/sdxl-turbo")), Stage(model=ModelRef(id="/home/a/own.safetensors")))
    request = GenerateRequest(
        prompt="x", cascade=Cascade(stages=stages, transitions=(Transition(upscaler="4x-sharp"),))
    )
    found = files.located(request).cascade
    assert [stage.model.id for stage in found.stages] == ["stabilityai/sdxl-turbo", "own.safetensors"]
    assert found.transitions == request.cascade.transitions
    assert files.missing == []


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("../other/secret", "secret"),
        ("models\\..\\..\\secret", "secret"),
        ("~root/secret", "secret"),
        ("D:secret", "secret"),
    ],
)
def test_relative_paths_to_models_are_not_followed(files, recorded, name):
    stage = Stage(model=ModelRef(id=recorded))
    found = files.located(GenerateRequest(prompt="x", cascade=Cascade(stages=(stage,)), init_upscaler=recorded))
    assert (found.cascade.stages[0].model, found.init_upscaler) == (ModelRef(id=name), name)


@pytest.mark.parametrize(
    "recorded", ["..", "a/..", "~", "/home/~root", "\\\\host\\share", "\\\\.\\PhysicalDrive0", "/"]
)
def test_what_is_no_name_is_left_out(files, recorded):
    stage = Stage(model=ModelRef(id=recorded))
    request = with_init(recorded, cascade=Cascade(stages=(stage,)), init_upscaler=recorded)
    found = files.located(request)
    assert (found.cascade.stages[0].model, found.init_upscaler, found.images) == (None, None, ())
    assert [line.split()[0] for line in files.missing] == ["init", "upscaler", "model"]


def test_without_its_init_image_a_mask_has_nothing_to_mask(files, tmp_path):
    put(tmp_path / "images" / "mask.png")
    request = with_init("gone.png", inpaint=Inpaint())
    masked = replace(request, images=(*request.images, ImageInput(path="mask.png", role="mask")))
    found = files.located(masked)
    assert (found.images, found.inpaint, found.strength) == ((), None, None)


def test_controls_and_regions_without_their_images_are_left_out(files):
    box = RegionRef(prompt="a cat", box=(0.0, 0.0, 0.5, 0.5))
    masked = RegionRef(prompt="a dog", mask="gone.png")
    request = GenerateRequest(prompt="x", controls=(ControlRef(image="gone.png"),), regions=(box, masked))
    found = files.located(request)
    assert (found.controls, found.regions) == ((), (box,))
    assert [line.split()[0] for line in files.missing] == ["control", "mask"]

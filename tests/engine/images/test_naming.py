import errno
import os
import shutil
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError, UsageError
from mezzotint.images import naming
from mezzotint.images.naming import NameFields, check_output, enlarged_path, image_path, split_output
from mezzotint.protocol import Output

FIELDS = NameFields(
    seed=7,
    prompt="a red house",
    model="/models/sd_xl_base_1.0.safetensors",
    width=1024,
    height=768,
    steps=20,
    sampler="dpmpp_2m",
    index=0,
    count=1,
    now=datetime(2026, 11, 21, 15, 30, 12),
)


def name(path: str | None, **changes: object) -> str:
    return str(image_path(Output(path=path), replace(FIELDS, **changes)))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_said_is_the_default_name_here() -> None:
    assert name(None) == "2026-11-21-153012-7.png"


def test_a_folder_gets_the_default_name(tmp_path: Path) -> None:
    (tmp_path / "[art]").mkdir()
    assert name(str(tmp_path)) == str(tmp_path / "2026-11-21-153012-7.png")
    assert name("new/") == str(PurePath("new/2026-11-21-153012-7.png"))
    assert name("[date]/") == str(PurePath("2026-11-21/2026-11-21-153012-7.png"))
    assert name("[art]") == str(PurePath("[art]/2026-11-21-153012-7.png"))
    assert name(".") == "2026-11-21-153012-7.png"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("x", "x.png"),
        ("x.JPG", "x.JPG"),
        ("x.webp", "x.webp"),
        (".hidden", ".hidden.png"),
        ("[seed]-[prompt].jpeg", "7-a-red-house.jpeg"),
        ("[model]_[width]x[height]_[steps]_[sampler]", "sd_xl_base_1.0_1024x768_20_dpmpp_2m.png"),
        ("[index] of [count]", "1 of 1.png"),
        ("a [[b].png", "a [b].png"),
    ],
)
def test_templates(template: str, expected: str) -> None:
    assert name(template) == expected


def test_home_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert name("~/x.png") == str(tmp_path / "x.png")
    assert name("[prompt].png", prompt="~") == "image.png"


@pytest.mark.parametrize("template", ["x.gif", "x.", "v1.0", "x.png.exe", "[prompt].[seed]", "out/x.tiff"])
def test_other_suffixes_list_those_allowed(template: str) -> None:
    with pytest.raises(UsageError, match=r"\.png \.jpg \.jpeg \.webp"):
        name(template)


@pytest.mark.parametrize("template", ["", "a\0b.png", "a\nb.png", "x/..", ".."])
def test_names_that_name_nothing(template: str, tmp_path: Path) -> None:
    if template.endswith(".."):
        template = f"none/{template}"  # a folder that exists gets the default name
    with pytest.raises(UsageError):
        name(template)


@pytest.mark.parametrize("template", ["x.png", "[prompt].png", "[date]/[time].png"])
def test_many_images_get_an_index(template: str) -> None:
    names = {name(template, count=12, index=index) for index in range(12)}
    assert len(names) == 12
    assert any(one.endswith("-01.png") for one in names) and any(one.endswith("-12.png") for one in names)


@pytest.mark.parametrize("template", [None, "[seed].png", "[seed]/x.png", "[index].png"])
def test_names_that_differ_already_get_none(template: str | None) -> None:
    assert not name(template, count=12).endswith("-01.png")


@pytest.mark.parametrize("prompt", ["../../x", "/etc/passwd", "C:\\x", "..", "a/b", "\\\\host\\share", "CON"])
def test_a_prompt_cannot_leave_the_folder(prompt: str, tmp_path: Path) -> None:
    path = image_path(Output(path="out/[prompt]/[model]"), replace(FIELDS, prompt=prompt, model=prompt))
    assert path.resolve().is_relative_to(tmp_path / "out")
    assert len(path.parts) == 3


def test_a_template_may_lead_anywhere_but_not_leave_from_there() -> None:
    assert name("../up/[seed].png") == str(PurePath("../up/7.png"))
    with pytest.raises(UsageError, match="outside its folder"):
        name("out/[seed]/../../x.png")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_below_the_root_is_not_followed_out(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "7").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="outside its folder"):
        name("out/[seed]/x.png")
    (tmp_path / "out" / "loop").symlink_to("loop")
    with pytest.raises((StorageError, UsageError)):
        name("out/[model]/x.png", model="loop")


letters = st.text(max_size=200)
pieces = st.lists(
    st.sampled_from(
        [
            "[seed]",
            "[prompt]",
            "[model]",
            "[sampler]",
            "[date]",
            "/",
            "..",
            ".",
            "[[",
            "]",
            " ",
            "CON",
            "ü",
            "🏠",
            "a",
            "\\",
            ":",
        ]
    ),
    min_size=1,
    max_size=12,
).map("".join)


@given(template=pieces, prompt=letters, model=letters, sampler=letters, count=st.integers(1, 20))
def test_whatever_is_typed_stays_inside(
    tmp_path_factory: pytest.TempPathFactory, template: str, prompt: str, model: str, sampler: str, count: int
) -> None:
    root = tmp_path_factory.getbasetemp() / "root"
    fields = replace(FIELDS, prompt=prompt, model=model, sampler=sampler, count=count)
    try:
        path = image_path(Output(path=f"{root}/[seed]{template}"), fields)
    except UsageError:
        return
    assert path.parent.resolve().is_relative_to(root)
    assert path.suffix == ".png"
    for component in path.relative_to(root).parts:
        assert len(component.encode("utf-8", "surrogateescape")) <= 255
        assert "\0" not in component


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    check_output(Output(path="deep/er/[date]/[seed].png", preview_folder="previews/now"), 4)
    check_output(Output(), 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("template", ["x.bmp", "[nothing].png", "a\0.png"])
def test_checking_finds_what_cannot_work(template: str) -> None:
    with pytest.raises(UsageError):
        check_output(Output(path=template), 1)


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in ("file/x.png", "file/deep/x.png"):
        with pytest.raises(StorageError, match=r"file, not a folder"):
            check_output(Output(path=path), 1)
    with pytest.raises(StorageError, match=r"file, not a folder"):
        check_output(Output(preview_folder="file"), 1)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.EACCES, "no permission"), (errno.EROFS, "read-only"), (errno.ENOSPC, "full")]
)
def test_a_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    def refuse(self: Path, mode: int = 0o666, exist_ok: bool = True) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(StorageError, match=words):
        check_output(Output(), 1)


def test_too_little_space_is_told_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few = shutil.disk_usage(".")._replace(free=30 << 20)
    monkeypatch.setattr(naming.shutil, "disk_usage", lambda folder: few)
    check_output(Output(), 1)
    with pytest.raises(StorageError, match=r"30 MB free and 100 images may need 416 MB"):
        check_output(Output(), 100)


def test_a_disk_that_does_not_tell_its_space_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(errno.ENOSYS, "no")

    monkeypatch.setattr(naming.shutil, "disk_usage", refuse)
    check_output(Output(), 1)


@pytest.mark.parametrize(
    ("template", "parts"),
    [
        (None, (".", (), None, ".png")),
        ("out/", ("out", (), None, ".png")),
        ("out/[date]/[seed].jpg", ("out", ("[date]",), "[seed]", ".jpg")),
    ],
)
def test_where_images_go_in_parts(template: str | None, parts: tuple[str, tuple[str, ...], str | None, str]) -> None:
    found = split_output(Output(path=template))
    assert (str(found.root), found.folders, found.stem, found.suffix) == (str(PurePath(parts[0])), *parts[1:])


def test_the_home_folder_of_nobody_is_told() -> None:
    with pytest.raises(UsageError, match="home folder in '?~nobody-has-this-name/x.png'? is unknown"):
        name("~nobody-has-this-name/x.png")


def test_a_folder_that_may_not_be_looked_into_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(self: Path, **_: object) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", forbid)
    monkeypatch.setattr(Path, "exists", forbid)
    with pytest.raises(StorageError, match="no permission"):
        check_output(Output(path="locked/x"), 1)


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [
        (None, "a/b.jpg", "a/b-1.5x.jpg"), (None, "a/b.bmp", "a/b-1.5x.png"), ("c/", "a/b.webp", "c/b-1.5x.webp"),
        ("c/d.png", "a/b.jpg", "c/d.png"),
    ],
)  # fmt: skip
def test_where_an_enlarged_image_goes(output: str | None, source: str, expected: str) -> None:
    assert enlarged_path(Output(path=output), Path(source), 1.5) == Path(expected)


def test_an_enlarged_image_takes_no_template() -> None:
    with pytest.raises(UsageError, match="takes no .tokens."):
        enlarged_path(Output(path="[seed].png"), Path("a.png"), 2)

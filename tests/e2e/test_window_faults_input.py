"""What is dropped, pasted or typed and cannot be used: a sentence, nothing lost, and the window goes on."""

import json
import os
import struct
import zlib

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from faulty_window import Switch, opened  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from PySide6.QtCore import QMimeData, QUrl  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402

from mezzotint.codec import to_json  # noqa: E402
from mezzotint.protocol import (  # noqa: E402
    Cascade,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Sampling,
    Stage,
    Transition,
)
from mezzotint_app.viewmodel.dropped.data import drop_data  # noqa: E402

MEGABYTE = 1 << 20
BEFORE = "a house by the sea"


@pytest.fixture
def faulty(qtbot, monkeypatch, tmp_path):
    with opened(qtbot, monkeypatch, librarian=Switch(tmp_path / "librarian").command) as window:
        window.program.create.prompts.set_prompt(BEFORE)
        yield window


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width=8, height=8, text=None):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    words = b"" if text is None else chunk(b"iTXt", b"parameters\0\0\0\0\0" + text.encode())
    rows = zlib.compress(b"".join(b"\0" + bytes(width) for _ in range(min(height, 8))))
    return b"\x89PNG\r\n\x1a\n" + header + words + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def an_empty_file(path):
    path.write_bytes(b"")


def noise(path):
    path.write_bytes(os.urandom(4096))


def a_huge_image(path):
    path.write_bytes(png(20_000, 20_000))


def a_pipe(path):
    os.mkfifo(path)


def a_broken_link(path):
    path.symlink_to(path.parent / "nothing")


def a_link_to_itself(path):
    path.symlink_to(path)


def nothing(path):
    """Not there any more."""


DROPS = [an_empty_file, noise, a_huge_image, a_pipe, a_broken_link, a_link_to_itself, nothing]
UNIX = (a_pipe, a_broken_link, a_link_to_itself)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("ending", [".png", ".safetensors"])
def test_a_file_that_cannot_be_used_is_told_by_its_name_and_nothing_changes(faulty, tmp_path, ending):
    for make in DROPS:
        if os.name == "nt" and make in UNIX:
            continue
        path = tmp_path / f"{make.__name__}{ending}"
        make(path)
        faulty.drop(path)
        faulty.until(lambda path=path: path.name in faulty.notice())
        assert len(faulty.notice()) > len(path.name) + 10
        assert "Traceback" not in faulty.notice() and "<" not in faulty.notice()
        assert not faulty.window.dialogs._open
        assert faulty.program.create.prompts.prompt() == BEFORE
        faulty.window.notice.show_text("")
    faulty.works(BEFORE)


@pytest.mark.slow
def test_of_half_an_image_what_it_says_is_offered_and_that_it_cannot_be_shown(faulty, tmp_path):
    path = tmp_path / "half.png"
    data = png(text="a house on a hill\nSteps: 20, Seed: 5, Size: 512x512")
    path.write_bytes(data[: data.index(b"IDAT") + 8])
    faulty.drop(path)
    faulty.until(lambda: "differences" in faulty.window.dialogs._open)
    dialog = faulty.window.dialogs._open["differences"]
    faulty.until(lambda: dialog._model.metadata() is not None and bool(dialog._broken))
    assert "cannot be shown" in dialog._note.text()
    assert not dialog._use.isEnabled()
    dialog._model.apply("all")
    dialog.close()
    assert faulty.program.create.prompts.prompt() == "a house on a hill"
    faulty.works(BEFORE)


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
def test_a_folder_without_permission_is_told(faulty, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0)
    try:
        faulty.drop(folder)
        faulty.until(lambda: "locked" in faulty.notice())
    finally:
        folder.chmod(0o700)
    faulty.works(BEFORE)


@pytest.mark.slow
def test_ten_thousand_files_are_too_many_and_the_first_are_looked_at(faulty, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / f"{number}.png")) for number in range(10_000)])
    faulty.program.dropped.take(drop_data(data))
    assert "10000 files are too many at once: only the first 500 are used" in faulty.notice()
    faulty.until(lambda: "more cannot" in faulty.notice())
    faulty.works(BEFORE)


@pytest.mark.slow
def test_names_that_look_like_markup_or_hold_controls_are_shown_as_they_are(faulty, tmp_path):
    path = tmp_path / "<b>bold<b>\x1b[31m\u202egnp.exe"
    path.write_bytes(b"")
    faulty.drop(path)
    faulty.until(lambda: "<b>bold" in faulty.notice())
    assert "\x1b" not in faulty.notice() and "\u202e" not in faulty.notice()
    faulty.works(BEFORE)


@pytest.mark.slow
def test_pixels_that_cannot_be_kept_are_told(faulty):
    faulty.program.images.paste(QImage())
    assert "no image" in faulty.notice()
    faulty.works(BEFORE)


# ---- a prompt of 1 MB


@pytest.mark.slow
def test_a_prompt_of_1_mb_is_not_pasted_and_that_is_told(faulty, qtbot):
    edit = faulty.window.create_page.prompts.prompt
    data = QMimeData()
    data.setText("words and " * (MEGABYTE // 10))
    edit.insertFromMimeData(data)
    faulty.until(lambda: "Nothing was pasted" in faulty.line())
    assert edit.text() == faulty.program.create.prompts.prompt() == BEFORE
    faulty.works(BEFORE)


@pytest.mark.slow
def test_a_prompt_that_grows_beyond_what_can_be_read_stops_there(faulty, qtbot):
    edit = faulty.window.create_page.prompts.prompt
    longest = "words and " * 6553 + "words."  # 65,536 characters
    faulty.program.create.prompts.set_prompt(longest)
    faulty.until(lambda: edit.text() == longest)
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    qtbot.keyClicks(edit, "x")
    faulty.until(lambda: "the limit is 65536" in faulty.line())
    assert edit.text() == faulty.program.create.prompts.prompt() == longest
    faulty.works(longest)


@pytest.mark.slow
def test_an_image_with_a_prompt_of_1_mb_is_looked_at_and_not_taken(faulty, tmp_path):
    path = tmp_path / "long.png"
    path.write_bytes(png(text="words and " * (MEGABYTE // 10) + "\nSteps: 20, Seed: 5, Size: 512x512"))
    faulty.drop(path)
    faulty.until(lambda: "differences" in faulty.window.dialogs._open or path.name in faulty.notice())
    if "differences" in faulty.window.dialogs._open:
        dialog = faulty.window.dialogs._open["differences"]
        faulty.until(lambda: dialog._model.metadata() is not None or bool(dialog._model.problem()))
        if dialog._model.metadata() is not None:
            dialog._model.apply_wanted.emit(dialog._model.metadata(), "all")
        dialog.close()
    assert faulty.program.create.prompts.prompt() == BEFORE or len(faulty.program.create.prompts.prompt()) <= 65_536
    faulty.works(BEFORE)


# ---- numbers that strangers write

INTEGERS = st.integers(-(10**30), 10**30)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
STAGES = st.builds(
    Stage,
    model=st.sampled_from([ModelRef(id="m"), ModelRef(id="n"), None]),
    width=st.none() | INTEGERS,
    height=st.none() | INTEGERS,
    until=st.none() | FLOATS,
    sampling=st.builds(
        Sampling,
        steps=st.none() | INTEGERS,
        guidance_scale=st.none() | FLOATS,
        guidance_rescale=st.none() | FLOATS,
        clip_skip=st.none() | INTEGERS,
    ),
)


def cascade(stages):
    return Cascade(stages=tuple(stages), transitions=(Transition(scale=1e300, strength=-1e300),) * (len(stages) - 1))


REQUESTS = st.builds(
    GenerateRequest,
    prompt=st.text(max_size=200),
    seed=st.none() | INTEGERS,
    count=INTEGERS,
    strength=st.none() | FLOATS,
    vae_tile=st.none() | INTEGERS,
    images=st.just((ImageInput(path="/nothing.png"),)),
    inpaint=st.none()
    | st.builds(Inpaint, padding=INTEGERS, feather=INTEGERS, left=INTEGERS, top=INTEGERS, right=INTEGERS),
    loras=st.lists(st.builds(LoraRef, path=st.just("/nothing.safetensors"), weight=FLOATS), max_size=2).map(tuple),
    cascade=st.lists(STAGES, min_size=1, max_size=3).map(cascade),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=REQUESTS)
def test_whatever_an_image_s_settings_say_the_page_can_show_them(faulty, qtbot, request):
    faulty.program.create.apply_request(request)
    qtbot.wait(1)
    faulty.program.create.problems()
    json.loads(to_json(faulty.program.create.request()))
    assert faulty.window.isVisible()

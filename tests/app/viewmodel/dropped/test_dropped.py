"""Each kind of thing goes to whoever knows what to do with it; nothing waits, nothing is added by itself."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QImage  # noqa: E402

from mezzotint.library_protocol import Dropped  # noqa: E402
from mezzotint_app.viewmodel.dropped.data import MOST_PATHS, DropData  # noqa: E402
from mezzotint_app.viewmodel.dropped.dropped import DropHandler  # noqa: E402


class Heard:
    def __init__(self, handler):
        self.all = []
        for name in ("show_differences", "add_model", "add_lora", "job", "batch", "pasted", "message", "busy"):
            getattr(handler, name).connect(lambda value, name=name: self.all.append((name, value)))

    def of(self, name):
        return [value for kind, value in self.all if kind == name]


@pytest.fixture
def handler(service, inline):
    return DropHandler(service, inline)


@pytest.fixture
def heard(handler):
    return Heard(handler)


def thing(path, kind, detail="what it is"):
    return Dropped(path=path, kind=kind, detail=detail)


def drop(handler, service, *things):
    handler.take_paths([one.path for one in things])
    service.answer(tuple(things), method="examine")


def test_an_image_shows_its_settings(handler, heard, service):
    drop(handler, service, thing("/a.png", "image"))
    assert heard.of("show_differences") == ["/a.png"]
    assert heard.of("busy") == [True, False]


def test_several_images_are_a_batch(handler, heard, service):
    drop(handler, service, thing("/a.png", "image"), thing("/b.png", "image"))
    assert heard.of("show_differences") == []
    (images,) = heard.of("batch")
    assert images.paths == ("/a.png", "/b.png")


def test_models_and_loras_are_asked_about(handler, heard, service):
    things = [thing("/m.safetensors", "model"), thing("/models", "model_folder"), thing("/l.safetensors", "lora")]
    drop(handler, service, *things)
    assert heard.of("add_model") == things[:2]
    assert heard.of("add_lora") == things[2:]


def test_a_folder_is_listed_off_the_windows_thread(handler, heard, service, inline, tmp_path):
    for name in ("10.png", "9.png"):
        (tmp_path / name).write_bytes(b"")
    inline.held = True
    drop(handler, service, thing(str(tmp_path), "image_folder"))
    assert heard.of("batch") == []
    inline.go()
    (images,) = heard.of("batch")
    assert [path.rpartition("9.png")[1] or path.rpartition("10.png")[1] for path in images.paths] == [
        "9.png",
        "10.png",
    ]


def test_a_folder_that_is_gone_is_told(handler, heard, service, tmp_path):
    drop(handler, service, thing(str(tmp_path / "gone"), "image_folder"))
    assert "cannot read" in heard.of("message")[0]


def test_what_cannot_be_used_says_what_it_is_in_plain_bounded_words(handler, heard, service):
    drop(handler, service, thing("/" + "x" * 10_000 + ".exe", "unknown", "<b>a program</b>\n" + "y" * 10_000))
    (message,) = heard.of("message")
    assert "<b>a program</b>" in message
    assert len(message) < 500
    assert "\n" not in message


def test_a_hundred_useless_things_are_a_few_messages(handler, heard, service):
    drop(handler, service, *(thing(f"/{number}.exe", "unknown") for number in range(100)))
    assert len(heard.of("message")) == 4
    assert "97" in heard.of("message")[-1]


def test_a_job_file_is_opened(handler, heard, service):
    drop(handler, service, thing("/job.toml", "job"))
    assert heard.of("job") == ["/job.toml"] and heard.of("message") == []


def test_too_many_things_are_told(handler, heard, service):
    handler.take(DropData(paths=("/a.png",), left_out=9_999))
    assert "10000" in heard.of("message")[0].replace(",", "")
    assert len(service.open("examine")) == 1


def test_addresses_pixels_and_nothing(handler, heard, service):
    handler.take(DropData(elsewhere=1))
    handler.take(DropData())
    image = QImage(2, 2, QImage.Format.Format_RGB32)
    handler.take(DropData(image=image))
    assert len(heard.of("message")) == 2
    assert heard.of("pasted") == [image]
    assert service.methods() == []


def test_a_librarian_that_fails_is_told(handler, heard, service):
    handler.take_paths(["/a.png"])
    service.fail("gone", "the librarian ended")
    assert heard.of("message") == ["the librarian ended"]
    assert heard.of("busy") == [True, False]


def test_the_newest_drop_wins(handler, heard, service):
    handler.take_paths(["/a.png"])
    handler.take_paths(["/b.png"])
    service.answer((thing("/a.png", "image"),), call=1)
    assert heard.of("show_differences") == []
    service.answer((thing("/b.png", "image"),), call=2)
    assert heard.of("show_differences") == ["/b.png"]


def test_paths_of_a_command_line_are_no_more_than_those_of_a_drop(handler, heard, service):
    handler.take_paths([f"/{number}.png" for number in range(MOST_PATHS + 7)])
    assert len(service.last("examine").params["paths"]) == MOST_PATHS
    assert f"the first {MOST_PATHS} are used" in heard.of("message")[0]

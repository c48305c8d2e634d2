"""The librarian's table, and its life from the first line to the last."""

import contextlib
import json
import os
import threading
from pathlib import Path

import pytest
from own_images import write_own

from mezzotint.codec import decode, encode
from mezzotint.librarian import Librarian
from mezzotint.library.image_methods import MOST_PATHS, LibraryServices, image_methods
from mezzotint.library.params import PathParams, PathsParams
from mezzotint.library_protocol import (
    BoardEdit,
    Dropped,
    GalleryPage,
    GalleryQuery,
    GalleryScan,
    GalleryTags,
    Labelling,
    Pixels,
    PixelsRequest,
    Rating,
    Thumbnail,
    ThumbnailRequest,
    TokenCount,
    TokenRequest,
)
from mezzotint.paths import cache_folder, state_folder
from mezzotint.protocol import ImageMetadata, ModelInfo, ModelRef, Output

NAMES = (
    *(
        "models",
        "search_hub",
        "wildcards",
        "wildcard_text",
        "save_wildcard",
        "loras",
        "cards",
        "save_card",
        "card_picture",
        "styles",
        "style_of",
        "save_style",
        "remove_style",
        "import_styles",
        "apply_style",
        "notices",
        "inspect",
        "part_files",
        "choose_part",
        "tokens",
        "metadata",
        "examine",
        "thumbnail",
        "pixels",
    ),
    *("gallery.scan", "gallery.query", "gallery.rate", "gallery.forget", "gallery.models", "check_output"),
    *("gallery.boards", "gallery.board", "gallery.label", "gallery.looks"),
    *("upscale", "upscalers", "controlnets", "remove_background", "prepare_control", "complete", "draw"),
    *("places", "add_place", "remove_place", "forget_model", "remember_model"),
    *("hidden_models", "known_models", "search_hub", "offer", "get", "quantize", "verify"),
    *("batch_read", "batch_write", "batch_look", "batch_status", "batch_tasks"),
    *("training_check", "training_caption", "training_runs"),
)


class Client:
    """A librarian on a thread, and the other end of its pipes."""

    def __init__(self):
        calls, into = os.pipe()
        out, answers = os.pipe()
        self.calls, self.answers = os.fdopen(into, "wb", buffering=0), os.fdopen(out, "rb")
        reader, writer = os.fdopen(calls, "rb"), os.fdopen(answers, "wb")
        self.librarian, self.finished = Librarian(reader, writer), None
        self._thread = threading.Thread(target=self._run, args=(reader, writer))
        self._thread.start()
        self._last = 0

    def _run(self, reader, writer):
        self.finished = self.librarian.run()
        reader.close()
        with contextlib.suppress(OSError):
            writer.close()

    def ask(self, method, params=None):
        """The answer to one call, whole."""
        self._last += 1
        call = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": encode(params)}
        self.calls.write(json.dumps(call).encode() + b"\n")
        while True:
            message = json.loads(self.answers.readline())
            if message.get("id") == self._last:
                return message

    def result(self, cls, method, params=None):
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return decode(cls, answer["result"])

    def end(self):
        self.calls.close()
        self._thread.join()
        self.answers.close()


@pytest.fixture
def client():
    client = Client()
    yield client
    client.end()
    assert client.finished is True


def test_the_table_holds_every_method_of_the_contract(client):
    assert set(NAMES) == set(client.librarian.methods())
    jobs = {name for name, method in client.librarian.methods().items() if method.job}
    assert jobs == {
        *("gallery.scan", "gallery.looks", "get", "quantize", "remove_background", "upscale", "verify"),
        *("batch_look", "loras", "prepare_control"),
    }


def test_images_from_the_scan_to_the_stars(client, tmp_path):
    path = str(write_own(tmp_path / "a.png", prompt="a red barn"))
    client.ask("gallery.scan", GalleryScan(folders=(str(tmp_path),)))
    client.ask("gallery.rate", Rating(paths=(path,), rating=3))
    (item,) = client.result(GalleryPage, "gallery.query", GalleryQuery(search="barn", rating=3)).items
    assert item.path == path
    assert client.result(tuple[str, ...], "gallery.models") == ("starter-dit",)
    thumbnail = client.result(Thumbnail, "thumbnail", ThumbnailRequest(path=path, side=24))
    assert Path(thumbnail.path).is_relative_to(cache_folder()) and thumbnail.width == 24
    pixels = client.result(Pixels, "pixels", PixelsRequest(path=path))
    assert Path(pixels.path).stat().st_size == pixels.height * pixels.bytes_per_line
    assert client.result(ImageMetadata, "metadata", PathParams(path=path)).prompt == "a red barn"
    dropped = client.result(tuple[Dropped, ...], "examine", PathsParams(paths=(path, str(tmp_path))))
    assert [one.kind for one in dropped] == ["image", "image_folder"]
    client.ask("gallery.label", Labelling(paths=(path,), kind="board", add=("Barns",)))
    client.ask("gallery.board", BoardEdit(name="Red", search="red"))
    found = client.result(GalleryTags, "gallery.boards")
    assert [(one.name, one.count) for one in found.boards] == [("Barns", 1), ("Red", 0)]
    assert client.result(int, "gallery.looks") == 0
    client.ask("gallery.forget", PathsParams(paths=(path,)))
    assert client.result(GalleryPage, "gallery.query", GalleryQuery()).total == 0
    assert (state_folder() / "gallery.db").is_file()


def test_words_and_models(client):
    models = client.result(tuple[ModelInfo, ...], "models")
    assert {"starter-dit", "starter-xl"} <= {model.id for model in models}
    assert client.result(ModelInfo, "inspect", ModelRef(id="starter-dit")).parts
    counts = client.result(tuple[TokenCount, ...], "tokens", TokenRequest(model="starter-xl", prompt="a barn"))
    assert len(counts) == 2
    assert client.result(tuple[str, ...], "notices") == ()


def test_a_broken_gallery_is_told_in_the_notices(client):
    state_folder().mkdir(parents=True)
    (state_folder() / "gallery.db").write_bytes(b"garbage" * 999)
    client.ask("gallery.query", GalleryQuery())
    (notice,) = client.result(tuple[str, ...], "notices")
    assert "damaged" in notice


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("inspect", ModelRef(id="nobody"), "unknown_model"),
        ("tokens", TokenRequest(model="nobody", prompt="a"), "unknown_model"),
        ("metadata", PathParams(path="absent.png"), "image_refused"),
        ("metadata", {"file": "a"}, "protocol"),
        ("examine", PathsParams(paths=("a",) * (MOST_PATHS + 1)), "usage"),
        ("thumbnail", ThumbnailRequest(path="absent.png"), "storage"),
        ("pixels", PixelsRequest(path="absent.png"), "image_refused"),
        ("gallery.rate", Rating(paths=("absent.png",), rating=1), "storage"),
        ("gallery.rate", Rating(paths=(), rating=9), "usage"),
        ("check_output", Output(path="images/[colour].png"), "usage"),
        ("check_output", Output(path="images/[seed].gif"), "usage"),
        ("generate", None, "protocol"),
    ],
)
def test_errors_are_told_in_one_line(client, method, params, kind):
    error = client.ask(method, params)["error"]
    assert error["data"]["kind"] == kind and "\n" not in error["message"]


def test_its_pixels_go_with_it(tmp_path):
    client = Client()
    path = str(write_own(tmp_path / "a.png"))
    pixels = Path(client.result(Pixels, "pixels", PixelsRequest(path=path)).path)
    assert pixels.exists()
    client.end()
    assert not pixels.exists() and client.finished is True


def test_parts_are_made_once_by_whichever_thread():
    services, found, wait = LibraryServices(lambda: None), set(), threading.Barrier(8)

    def look():
        wait.wait()
        found.add(id(services.gallery))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1
    services.close()


def test_nothing_is_made_that_nobody_asked_for():
    services = LibraryServices(lambda: pytest.fail("no catalog is needed"))
    assert image_methods(services)
    services.close()
    assert not state_folder().exists() and not cache_folder().exists()

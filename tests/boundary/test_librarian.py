"""The real librarian behind its pipes: every method once, garbage, cancelling, its end; never torch."""

import contextlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from own_images import write_own
from PIL import Image

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import Record
from mezzotint.batch_protocol import BatchJob, BatchStatus, BatchTaskPage, BatchWritten, DryTotals
from mezzotint.codec import decode, decode_event, encode
from mezzotint.library_protocol import (
    Dropped,
    GalleryPage,
    GalleryScanned,
    KnownModel,
    KnownModelsRequest,
    ModelPlace,
    Pixels,
    Thumbnail,
    TokenCount,
    Verified,
)
from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, ImageMetadata, ModelInfo, Progress

HEAVY = ("torch", "diffusers", "transformers")

# The process as it is, but that it says at its end which of the heavy libraries it has met.
PROCESS = """
    import sys
    from mezzotint.librarian import main
    status = main(sys.argv[1:])
    print([name for name in ("torch", "diffusers", "transformers") if name in sys.modules], file=sys.stderr)
    sys.exit(status)
"""


class Librarian:
    """The process, and a client of it."""

    def __init__(self, *words, log=None):
        command = [sys.executable, "-P", "-c", textwrap.dedent(PROCESS), *words]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, env=environment)
        self._last = 0

    def write(self, data):
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def call(self, method, params=None):
        self._last += 1
        call = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": encode(params)}
        self.write(json.dumps(call).encode())
        return self._last

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the librarian ended"
        return json.loads(line)

    def answer(self, call_id, on_event=lambda event: None):
        while (message := self.read()).get("id") != call_id:
            if message.get("method") == "event":
                on_event(decode_event(message["params"]["event"]))
        return message

    def result(self, cls, method, params=None):
        message = self.answer(self.call(method, params))
        assert "result" in message, message
        return None if cls is None else decode(cls, message["result"])

    def end(self):
        """Its exit status, and what of heavy libraries it had loaded."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        log = self.process.stderr.read().decode()
        code = self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, log


@pytest.fixture
def librarian(tiny_pixart_folder):
    librarian = Librarian("--models-folder", str(tiny_pixart_folder.parent))
    yield librarian
    if librarian.process.poll() is None:
        librarian.end()


def test_every_method_once_and_never_torch(librarian, tiny_pixart_folder, tiny_sdxl_folder, tmp_path):
    ask = librarian.result
    image = str(write_own(tmp_path / "images" / "a.png", prompt="a red barn"))
    assert ask(EngineInfo, "initialize", {"schema_version": SCHEMA_VERSION}).devices == ()
    model = next(one for one in ask(tuple[ModelInfo, ...], "models") if one.path == str(tiny_pixart_folder))
    ask(tuple[str, ...], "notices")
    assert ask(ModelInfo, "inspect", {"id": model.id}).parts
    for name in (model.id, str(tiny_sdxl_folder), "starter-xl"):
        assert ask(tuple[TokenCount, ...], "tokens", {"model": name, "prompt": "a (red:1.2) barn"})
    assert ask(ImageMetadata, "metadata", {"path": image}).prompt == "a red barn"
    dropped = ask(tuple[Dropped, ...], "examine", {"paths": [image, str(tiny_sdxl_folder), str(tmp_path)]})
    assert [one.kind for one in dropped] == ["image", "model", "image_folder"]
    assert ask(Thumbnail, "thumbnail", {"path": image}).width == 48
    pixels = ask(Pixels, "pixels", {"path": image, "max_side": 24})
    assert Path(pixels.path).stat().st_size == pixels.bytes_per_line * pixels.height
    events = []
    scan = librarian.call("gallery.scan", {"folders": [str(tmp_path / "images")]})
    assert decode(GalleryScanned, librarian.answer(scan, events.append)["result"]).total == 1
    assert events and all(isinstance(event, Progress) for event in events)
    ask(None, "gallery.rate", {"paths": [image], "rating": 5})
    assert ask(GalleryPage, "gallery.query", {"rating": 5, "search": "barn"}).total == 1
    assert ask(tuple[str, ...], "gallery.models") == ("starter-dit",)
    ask(None, "gallery.forget", {"paths": [image]})
    places = ask(tuple[ModelPlace, ...], "add_place", {"path": str(tiny_sdxl_folder.parent)})
    assert places == ask(tuple[ModelPlace, ...], "places")
    ask(tuple[ModelPlace, ...], "remove_place", {"path": str(tiny_sdxl_folder.parent)})
    ask(None, "forget_model", {"id": model.id})
    ask(None, "remember_model", {"id": model.id})
    assert ask(tuple[KnownModel, ...], "known_models", KnownModelsRequest())
    assert ask(Verified, "verify", {"id": model.id}).ok
    job = {
        "version": 1,
        "settings": {"model": "starter-xl", "strength": 0.5},
        "prompts": {"list": ["snow"]},
        "input": {"folder": "images"},
        "output": {"folder": "out"},
    }
    path = str(tmp_path / "job.toml")
    assert ask(BatchWritten, "batch_write", {"job": job, "path": path}).path == path
    read = ask(BatchJob, "batch_read", {"path": path})
    assert read == BatchJob(job=job, base=str(tmp_path))
    groups = []
    look = librarian.call("batch_look", {"job": read.job, "base": read.base})
    assert decode(DryTotals, librarian.answer(look, groups.append)["result"]).to_make == 1
    assert [row.input for group in groups for row in group.rows] == ["a.png"]
    with Manifest.open(tmp_path / "out") as manifest:
        manifest.note("run", {"title": "Snow"})
        manifest.add(Record(key="k", status="failed", output="a.png", kind="bug"))
        assert ask(BatchStatus, "batch_status", {"folder": str(tmp_path / "out")}).title == "Snow"
    assert ask(BatchTaskPage, "batch_tasks", {"folder": str(tmp_path / "out")}).rows[0].kind == "bug"
    for method in ("offer", "get"):  # the net is not for tests: refused before it is asked for
        message = librarian.answer(librarian.call(method, {"source": "not a source"}))
        assert message["error"]["data"]["kind"] == "usage"
    refused = librarian.answer(librarian.call("quantize", {"model": "nobody", "scheme": "int8"}))
    assert refused["error"]["data"]["kind"] == "unknown_model"
    ask(None, "shutdown")
    code, log = librarian.end()
    assert code == 0 and log.splitlines()[-1] == "[]"


def test_a_start_loads_nothing_heavy():
    code = "import mezzotint.librarian, sys; print([n for n in sys.argv[1:] if n in sys.modules])"
    heavy = (*HEAVY, "PIL", "tokenizers", "numpy", "sqlite3", "tomlkit", "huggingface_hub")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *heavy],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "[]"


def test_garbage_is_refused_and_the_next_call_answered(librarian):
    for line in (b"{", b"\xff", b"[" * 50_000, b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "reboot"}'):
        librarian.write(line)
        assert "error" in librarian.read()
    assert librarian.result(EngineInfo, "initialize", {"schema_version": SCHEMA_VERSION})
    assert librarian.answer(librarian.call("initialize", {"schema_version": 99}))["error"]["data"]["kind"] == "protocol"
    assert librarian.end()[0] == 0


def test_a_look_at_a_job_is_stopped_and_questions_are_answered_meanwhile(librarian, tmp_path):
    image = str(write_own(tmp_path / "a.png"))
    words = [f"a house {number}" for number in range(5000)]
    job = {"version": 1, "prompts": {"list": words}, "matrix": {"seed": [1, 2, 3]}}
    look = librarian.call("batch_look", {"job": job, "base": str(tmp_path)})
    rows = 0
    while rows < 1000:
        message = librarian.read()
        assert message["params"]["job"] == look
        rows += len(decode_event(message["params"]["event"]).rows)
    thumbnail, cancel = librarian.call("thumbnail", {"path": image}), librarian.call("cancel", {"job": look})
    answers = {}
    while not {look, thumbnail, cancel} <= answers.keys():
        message = librarian.read()
        answers[message.get("id")] = message
    assert decode(Thumbnail, answers[thumbnail]["result"])
    assert answers[cancel]["result"] == {"cancelled": True}
    assert answers[look]["error"]["data"]["kind"] == "cancelled"
    assert librarian.end()[0] == 0


def test_a_scan_is_stopped_and_questions_are_answered_meanwhile(librarian, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(400):
        Image.new("L", (2, 2), number % 256).save(folder / f"{number}.png")
    scan = librarian.call("gallery.scan", {"folders": [str(folder)]})
    while librarian.read().get("method") != "event":
        pass
    query, cancel = librarian.call("gallery.query", {}), librarian.call("cancel", {"job": scan})
    answers = {}
    while not {scan, query, cancel} <= answers.keys():
        message = librarian.read()
        answers[message.get("id")] = message
    assert decode(GalleryPage, answers[query]["result"])
    stopped = answers[cancel]["result"]["cancelled"]
    assert ("error" in answers[scan]) is stopped
    again = librarian.result(GalleryScanned, "gallery.scan", {"folders": [str(folder)]})
    assert again.total == 400
    assert librarian.end()[0] == 0


@pytest.mark.slow
def test_thumbnails_are_cancelled_by_their_calls(librarian, tmp_path):
    for number in range(30):
        Image.effect_noise((700, 700), 90).save(tmp_path / f"{number}.png", compress_level=1)
    calls = [librarian.call("thumbnail", {"path": str(tmp_path / f"{number}.png")}) for number in range(30)]
    cancels = [librarian.call("cancel", {"job": call}) for call in calls[:25]]
    answers = {}
    while not {*calls, *cancels} <= answers.keys():
        message = librarian.read()
        answers[message.get("id")] = message
    for call, cancel in zip(calls, cancels, strict=False):
        if "error" in answers[call]:
            assert answers[call]["error"]["data"]["kind"] == "cancelled" and answers[cancel]["result"]["cancelled"]
    assert all("result" in answers[call] for call in calls[25:])
    assert librarian.end()[0] == 0


def test_stray_prints_go_to_the_log():
    code = """
        import os
        from mezzotint.library import image_methods
        from mezzotint.librarian import main

        def careless(asked):
            print('{"jsonrpc": "2.0", "id": 1, "result": "a lie"}', flush=True)
            os.write(1, b"native garbage")
            raise ValueError("nobody thought of this")

        image_methods._metadata = careless
        main([])
    """
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "metadata", "params": {"path": "a"}}\n'
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)],
        input=call,
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["error"]["data"]["kind"] == "bug"
    assert b"a lie" in done.stderr and b"native garbage" in done.stderr and b"nobody thought of this" in done.stderr


def test_it_ends_with_its_parents_pipe(librarian, tmp_path):
    for number in range(200):
        Image.new("L", (2, 2), number % 256).save(tmp_path / f"{number}.png")
    librarian.call("gallery.scan", {"folders": [str(tmp_path)]})
    librarian.read()
    code, log = librarian.end()  # no shutdown: as when the window is killed
    assert code == 0 and "Traceback" not in log


def test_hostile_images_leave_it_alive(librarian, tmp_path):
    bad = {"empty.png": b"", "text.jpg": b"a", "cut.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0", "zeros.webp": bytes(4000)}
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    for name in bad:
        path = str(tmp_path / name)
        for method in ("thumbnail", "pixels", "metadata"):
            message = librarian.answer(librarian.call(method, {"path": path}))
            assert message["error"]["data"]["kind"] == "image_refused" and "\n" not in message["error"]["message"]
    assert librarian.result(tuple[Dropped, ...], "examine", {"paths": [str(tmp_path / name) for name in bad]})
    assert librarian.result(GalleryScanned, "gallery.scan", {"folders": [str(tmp_path)]}).unreadable == 4
    assert librarian.end()[0] == 0

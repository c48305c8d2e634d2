"""A process that speaks the engine's protocol and generates no images; the prompt selects a fault.

    python fake_server.py [--start FAULT]       faults at startup: hang, die, slow, version, deaf, missing, garbage
    generate {"prompt": FAULT}                  faults of a job, below; anything else makes a dummy image
    drain                                       the same for the entries of the queue, by the engine's own code

It uses only the standard library until it drains, so that it starts immediately.
"""

import errno
import json
import os
import struct
import sys
import threading
import time
import zlib
from pathlib import Path

SCHEMA_VERSION = 1
IMAGE = {"width": 8, "height": 8, "sha256": "0"}
STEPS = 4

_writing = threading.Lock()
_cancelled = set()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def write(text):
    with _writing:
        sys.stdout.write(text)
        sys.stdout.flush()


def info():
    device = {"id": "cpu", "name": "Nobody's", "memory_bytes": 1 << 30}
    return {"schema_version": SCHEMA_VERSION, "version": "0", "versions": {}, "devices": [device], "threads": 1}


def event(call, kind, **fields):
    send({"method": "event", "params": {"job": call, "event": {"type": kind, **fields}}})


def error(call, kind, message):
    send({"id": call, "error": {"code": -32000, "message": message, "data": {"kind": kind, "message": message}}})


def result(request, images):
    return {
        "schema_version": SCHEMA_VERSION,
        "images": images,
        "seed": request.get("seed") or 0,
        "stages": [],
        "transitions": [],
        "images_used": [],
        "strength": None,
        "device": "cpu",
        "device_name": "Nobody's",
        "dtype": "float32",
        "attention": request.get("attention", "auto"),
        "threads": 1,
        "versions": {},
        "timings": {"load": 0.5, "encode": 0.1, "denoise": [0.4], "decode": 0.2, "save": 0.1, "total": 1.3},
        "memory": {"peak_ram_bytes": 1, "peak_vram_bytes": None, "phases": []},
        "notices": [],
    }


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", IMAGE["width"], IMAGE["height"], 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x80" * 3 * IMAGE["width"]) * IMAGE["height"]
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def made_image(request, index):
    seed = (request.get("seed") or 0) + index
    folder = Path(request.get("output", {}).get("path") or ".")
    path = folder / f"{seed}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png())
    return {**IMAGE, "path": str(path), "seed": seed, "index": index}


class JobError(Exception):
    """Why a job fails: the kind and the message."""


def make(request, tell, stopped):
    """Run a job, reporting events through `tell(kind, **fields)`, and return its result."""
    tell("Loading", model="fake", component="unet", bytes_done=1, bytes_total=2)
    images, count = [], request.get("count", 1)
    for index in range(count):
        for step in range(1, STEPS + 1):
            if stopped():
                raise JobError("cancelled", "stopped")
            told = {"image": index, "images": count, "stage": 0, "stages": 1, "step": step, "steps": STEPS}
            tell("Step", **told, sigma=1.0, preview=None)
            if step == 2:
                fault(stopped, request.get("prompt", ""))
        try:
            images.append(made_image(request, index))
        except OSError as trouble:
            words = f"cannot write {trouble.filename}: {trouble.strerror}: choose another folder"
            raise JobError("storage", words) from trouble
        tell("Saved", image=images[-1], images=count)
    return result(request, images)


def generate(call, request):
    try:
        made = make(request, lambda kind, **fields: event(call, kind, **fields), lambda: call in _cancelled)
    except JobError as trouble:
        return error(call, *trouble.args)
    for _ in range(2 if request.get("prompt") == "twice" else 1):
        send({"id": call, "result": made})
    return None


class Engine:
    """The part of an engine that the real drain uses."""

    def generate(self, request, on_event, cancelled):
        from mezzotint.codec import decode, decode_event, encode
        from mezzotint.protocol import GenerateResult

        try:
            made = make(encode(request), lambda kind, **told: on_event(decode_event({"type": kind, **told})), cancelled)
        except JobError as trouble:
            raise translated(*trouble.args) from trouble.__cause__
        return decode(GenerateResult, made)


def translated(kind, message):
    from mezzotint import errors

    known = {one.kind: one for one in vars(errors).values() if isinstance(one, type) and hasattr(one, "kind")}
    return known[kind](message)


def drain(call, params):
    from mezzotint.codec import decode, encode
    from mezzotint.errors import MezzotintError
    from mezzotint.jobs.methods import QueueMethods
    from mezzotint.queue_protocol import DrainRequest

    def tell(told):
        send({"method": "event", "params": {"job": call, "event": encode(told)}})

    try:
        drained = QueueMethods(Engine).drain(decode(DrainRequest, params), tell, lambda: call in _cancelled)
    except MezzotintError as trouble:
        return error(call, trouble.kind, str(trouble))
    return send({"id": call, "result": encode(drained)})


def once(folder):
    """Whether this is the first call, across all processes given this folder."""
    try:
        os.close(os.open(Path(folder) / "happened", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def crash_once(_, folder):
    if once(folder):
        os.abort()


def garbage_once(_, folder):
    if once(folder):
        write("rubbish\n" * 100)
        time.sleep(3600)


def wait_until_stopped(stopped, _):
    while not stopped():
        time.sleep(0.01)


def fill_disk(*_):
    raise JobError("storage", FULL) from OSError(errno.ENOSPC, "No space left on device")


def run_out_of_memory(*_):
    raise JobError("out_of_memory", OUT_OF_MEMORY)


def write_long_line(_, megabytes):
    for _ in range(int(megabytes) << 4):
        write("x" * (1 << 16))
    write("\n")


def flood(_, megabytes):
    sys.stderr.write("word " * 20 + "\n")
    for _ in range(int(megabytes or 100)):
        sys.stderr.write(("noise " * 160 + "\n") * 1000)
    sys.stderr.flush()


FULL = "cannot write a.png: the disk is full: free some space, or choose another folder"
OUT_OF_MEMORY = "the GPU ran out of memory: needed 7.9 GB, 6.0 were free"
FAULTS = {
    "crash": lambda *_: os.abort(),
    "crash-once": crash_once,
    "lost": lambda *_: os._exit(86),
    "hang": lambda *_: time.sleep(3600),
    "slow": wait_until_stopped,
    "garbage": lambda _, lines: write("Segmentation fault (not really)\n" * int(lines or 1)),
    "garbage-once": garbage_once,
    "print": lambda *_: write("a careless library was here\n"),
    "half": lambda *_: write('{"jsonrpc": "2.0", "method": "event", "params": {"jo'),
    "long": write_long_line,
    "flood": flood,
    "full": fill_disk,
    "memory": run_out_of_memory,
}


def fault(stopped, words):
    name, _, detail = words.partition(" ")
    FAULTS.get(name, lambda *_: None)(stopped, detail)


MODEL = {
    "id": "fake",
    "path": "/fake",
    "layout": "folder",
    "family": "sdxl",
    "variant": "base",
    "bytes": 1,
    "source": "models",
    "defaults": None,
    "problem": None,
}
NOTHING = {  # answers of an engine with one model and nothing else
    "drain_settings": None,
    "models": [MODEL],
    "inspect": MODEL,
    **{name: [] for name in ("hidden_models", "places", "notices", "gallery.models", "tokens")},
    "gallery.query": {"total": 0, "items": []},
    "gallery.boards": {"boards": [], "tags": []},
    "gallery.scan": {"added": 0, "removed": 0, "total": 0, "unreadable": 0},
}


def answer(message):
    call, method, params = message.get("id"), message.get("method"), message.get("params")
    match method:
        case "initialize" | "info":
            return send({"id": call, "result": info()})
        case "cancel":
            _cancelled.add(params.get("job"))
            return send({"id": call, "result": {"cancelled": True}})
        case "shutdown":
            send({"id": call, "result": None})
            sys.stdout.flush()
            os._exit(0)
        case "generate" | "drain":
            job = drain if method == "drain" else generate
            return threading.Thread(target=job, args=(call, params), daemon=True).start()
        case "echo":
            return send({"id": call, "result": params})
        case "bulk":
            return send({"id": call, "result": "x" * params["bytes"]})
        case "never":
            return None
        case "exit":
            os._exit(params["code"])
        case method if method in NOTHING:
            return send({"id": call, "result": NOTHING[method]})
    return error(call, "protocol", f"there is no method {method!r}")


def begin(how):
    match how:
        case "hang" | "deaf":
            time.sleep(3600)
        case "die":
            sys.stderr.write("RuntimeError: it dies at start\n")
            sys.exit(1)
        case "missing":
            sys.stderr.write("Traceback (most recent call last):\nModuleNotFoundError: No module named 'torch'\n")
            sys.exit(1)
        case "slow":
            time.sleep(1)
        case "version":
            global SCHEMA_VERSION
            SCHEMA_VERSION = 99
        case "garbage":
            write("not JSON\n" * 100)


def main():
    begin(sys.argv[2] if sys.argv[1:2] == ["--start"] else "")
    for line in sys.stdin:
        answer(json.loads(line))


if __name__ == "__main__":
    main()

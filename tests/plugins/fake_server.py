"""A process that speaks the engine's protocol and makes no images; words say which fault to make.

    python fake_server.py [--start FAULT]       faults of a start: hang, die, slow, version, deaf, missing, garbage
    generate {"prompt": FAULT}                  faults of a job, below; anything else makes an image of nothing

It needs nothing but the standard library, so that it starts at once.
"""

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


def picture(request, index):
    seed = (request.get("seed") or 0) + index
    folder = Path(request.get("output", {}).get("path") or ".")
    path = folder / f"{seed}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png())
    return {**IMAGE, "path": str(path), "seed": seed, "index": index}


def generate(call, request):
    event(call, "Loading", model="fake", component="unet", bytes_done=1, bytes_total=2)
    images, count = [], request.get("count", 1)
    for index in range(count):
        for step in range(1, STEPS + 1):
            if call in _cancelled:
                return error(call, "cancelled", "stopped")
            told = {"image": index, "images": count, "stage": 0, "stages": 1, "step": step, "steps": STEPS}
            event(call, "Step", **told, sigma=1.0, preview=None)
            if step == 2:
                fault(call, request.get("prompt", ""))
        try:
            images.append(picture(request, index))
        except OSError as trouble:
            return error(call, "storage", f"cannot write {trouble.filename}: {trouble.strerror}: choose another folder")
        event(call, "Saved", image=images[-1], images=count)
    for _ in range(2 if request.get("prompt") == "twice" else 1):
        send({"id": call, "result": result(request, images)})
    return None


def once(folder):
    """Whether this is the first time, over all processes that were told of that folder."""
    try:
        os.close(os.open(Path(folder) / "happened", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def crash_once(call, folder):
    if once(folder):
        os.abort()


def garbage_once(call, folder):
    if once(folder):
        write("rubbish\n" * 100)
        time.sleep(3600)


def wait_until_cancelled(call, _):
    while call not in _cancelled:
        time.sleep(0.01)


def write_long_line(call, megabytes):
    for _ in range(int(megabytes) << 4):
        write("x" * (1 << 16))
    write("\n")


def flood(call, megabytes):
    sys.stderr.write("word " * 20 + "\n")
    for _ in range(int(megabytes or 100)):
        sys.stderr.write(("noise " * 160 + "\n") * 1000)
    sys.stderr.flush()


FULL = "cannot write a.png: the disk is full: free some space, or choose another folder"
OUT_OF_MEMORY = "the GPU ran out of memory: needed 7.9 GB, 6.0 were free"
FAULTS = {
    "crash": lambda call, _: os.abort(),
    "crash-once": crash_once,
    "lost": lambda call, _: os._exit(86),
    "hang": lambda call, _: time.sleep(3600),
    "slow": wait_until_cancelled,
    "garbage": lambda call, lines: write("Segmentation fault (not really)\n" * int(lines or 1)),
    "garbage-once": garbage_once,
    "print": lambda call, _: write("a careless library was here\n"),
    "half": lambda call, _: write('{"jsonrpc": "2.0", "method": "event", "params": {"jo'),
    "long": write_long_line,
    "flood": flood,
    "full": lambda call, _: error(call, "storage", FULL),
    "memory": lambda call, _: error(call, "out_of_memory", OUT_OF_MEMORY),
}


def fault(call, words):
    name, _, detail = words.partition(" ")
    FAULTS.get(name, lambda call, detail: None)(call, detail)


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
NOTHING = {  # what a librarian says that knows of one model and of nothing else
    "models": [MODEL],
    "inspect": MODEL,
    **{name: [] for name in ("hidden_models", "places", "notices", "gallery.models", "tokens")},
    "gallery.query": {"total": 0, "items": []},
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
        case "generate":
            return threading.Thread(target=generate, args=(call, params), daemon=True).start()
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

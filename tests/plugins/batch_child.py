"""A fake batch run for the window: behaves as the job's title says. Uses no network, generates no image.

python batch_child.py JOB --jsonl --stop-with-input [--retry-failed]
"""

import json
import sys
import tomllib
from pathlib import Path

BEGUN = {"schema_version": 1, "folder": "/out", "title": "", "pid": 1, "shard": None, "devices": []}
STEP = {"output": "a.png", "input": "in/a.jpg", "prompt": "a house", "stage": 0, "stages": 1, "step": 1, "steps": 2}


def tell(kind, value):
    print(json.dumps({"kind": kind, kind: value}), flush=True)  # noqa: T201  printing lines is its purpose


def progress(done, failed=0, total=4):
    return {
        "done": done,
        "failed": failed,
        "set_aside": 0,
        "skipped": 0,
        "already": 0,
        "left_failed": 0,
        "total": total,
        "per_second": 2.0,
        "seconds_left": 1.0,
        "vram_bytes": 1 << 30,
    }


def row(number, status="done"):
    error = None if status == "done" else "it is cut off"
    return {
        "status": status,
        "input": f"in/{number}.jpg",
        "output": f"{number}.png",
        "seed": number,
        "kind": error and "image_refused",
        "error": error,
        "seconds": 0.5,
        "attempts": 1,
    }


def end(stopped, code, **figures):
    told = {
        "stopped": stopped,
        "failures": figures.get("failed", 0),
        "exit_code": code,
        "progress": progress(**figures),
    }
    tell("ended", told)
    if code == 130:
        tell("error", {"kind": "cancelled", "message": "stopped; run the same command to resume", "exit_code": code})
    sys.exit(code)


def main(job, *words):
    """Behave as the title says."""
    title = tomllib.loads(Path(job).read_text("utf-8")).get("title", "")
    assert "--jsonl" in words and "--stop-with-input" in words
    print("talk for people", file=sys.stderr, flush=True)  # noqa: T201
    if title == "crash":
        import os

        os.abort()
    if title == "refused":
        tell("error", {"kind": "busy", "message": "process 7 on host works there", "exit_code": 8})
        sys.exit(8)
    tell("begun", BEGUN)
    tell("progress", progress(0))
    tell("step", STEP)
    if title == "garbage":
        for _ in range(300):
            print("not a message", flush=True)  # noqa: T201
    if title in ("slow", "deaf"):
        tell("settled", row(0))
        tell("progress", progress(1))
        sys.stdin.readline()
        if title == "deaf":
            while sys.stdin.readline():
                pass
            import threading

            threading.Event().wait()
        end("interrupted", 130, done=2)
    failed = 0 if title != "failures" or "--retry-failed" in words else 2
    for number in range(4):
        tell("settled", row(number, "failed" if number < failed else "done"))
    end("finished", 3 if failed else 0, done=4 - failed, failed=failed)


if __name__ == "__main__":
    main(*sys.argv[1:])

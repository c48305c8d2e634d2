"""Batches over the real engine, by the commands alone."""

import json
import signal
import subprocess
import sys

import pytest
from PIL import Image


@pytest.fixture
def photos(tmp_path):
    """Two small images, one of them in a folder below, and what is none."""
    folder = tmp_path / "photos"
    (folder / "below").mkdir(parents=True)
    Image.radial_gradient("L").convert("RGB").resize((96, 64)).save(folder / "a.png")
    Image.linear_gradient("L").convert("RGB").resize((64, 64)).save(folder / "below" / "b.jpg")
    (folder / "broken.png").write_text("no image at all")
    return folder


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "mezzotint", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def mezzotint(*words, code=0):
    process = started(*words)
    out, errors = process.communicate(timeout=280)
    assert process.returncode == code, errors
    return out, errors


@pytest.mark.slow
def test_a_folder_dry_then_made_then_settled(tiny_sdxl_folder, photos, tmp_path):
    words = [
        *("batch", photos, "-o", tmp_path / "out", "--recursive", "--prompt", "at night", "--strength", "0.5"),
        *("-m", tiny_sdxl_folder, "--steps", "2", "--device", "cpu", "--hires", "1.5"),
    ]
    rows = json.loads(mezzotint(*words, "--dry-run", "--json")[0])["rows"]
    assert sorted((row["does"], row["output"]) for row in rows if row["output"]) == [
        ("make", "a.png"),
        ("make", "below/b.png"),
    ]
    assert not (tmp_path / "out").exists()
    out, errors = mezzotint(*words, code=3)
    assert "failed: broken.png" in errors
    assert len(out.splitlines()) == 2
    manifest = tmp_path / "out" / "mezzotint-manifest.jsonl"
    made = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.png")}
    assert len(made) == 2
    manifest.unlink()  # as if the process had ended before its first sync, and the machine with it
    out, errors = mezzotint(*words, "--jsonl", code=3)
    ended = json.loads(out.splitlines()[-1])["ended"]
    assert (ended["progress"]["done"], ended["failures"]) == (2, 1)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.png")} == made
    merged = json.loads(mezzotint("batch", "merge", "--json", tmp_path / "out", code=3)[0])
    assert (merged["missing"], merged["conflicts"]) == ([], [])
    Image.new("RGB", (96, 64), "red").save(photos / "a.png")
    out, _ = mezzotint(*words, code=3)
    assert out.splitlines() == [f"{tmp_path}/out/a-1.png"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_nobody_joins_a_run_and_killed_with_its_process_it_is_gone_on_with(tiny_sdxl_folder, tmp_path):
    """The engine's process hears that the run was killed, ends, and the next run waits until it has."""
    words = [
        *("batch", "--prompt", "a {barn|house|boat}", "-o", tmp_path / "out", "-m", tiny_sdxl_folder),
        *("--size", "64x64", "--steps", "40", "--devices", "cpu", "--seed", "7"),
    ]
    victim = started(*words, "--jsonl")
    for line in victim.stdout:
        if json.loads(line)["kind"] == "settled":
            break
    _, errors = mezzotint(*words, code=8)
    assert f"process {victim.pid} on " in errors
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    out, _ = mezzotint(*words, "--jsonl")
    assert json.loads(out.splitlines()[-1])["ended"]["failures"] == 0
    assert len(list((tmp_path / "out").rglob("*.png"))) == 3
    status = json.loads(mezzotint("batch", "status", "--json", tmp_path / "out")[0])
    assert (status["done"], status["is_ended"], status["gone"]) == (3, True, 0)

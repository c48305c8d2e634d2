"""Bad input on the command line: one clear line, the right exit code, nothing executed, nothing left behind."""

import json
import os
import pickle
import resource
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from model_files import entry, raw, sdxl_file, sdxl_folder, small
from PIL import Image

from mezzotint.cli import main

WORDS = ("generate", "a house", "--size", "64x64", "--steps", "1", "--seed", "1")


@pytest.fixture
def refused(capsys, tmp_path, monkeypatch):
    """Run a command that must fail; what it said on stderr."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(code, *words):
        before = sorted(path for path in tmp_path.rglob("*"))
        assert main([str(word) for word in words]) == code
        said = capsys.readouterr()
        assert said.out == ""
        assert "Traceback" not in said.err
        assert sorted(path for path in tmp_path.rglob("*")) == before  # no image, no half a file
        errors = [line for line in said.err.splitlines() if line.startswith("mezzotint: error: ")]
        assert len(errors) == 1
        return errors[0]

    return run


# ---- models


def test_an_unknown_model_names_the_nearest(refused, tiny_sdxl_folder, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_MODEL_PATH", str(tiny_sdxl_folder.parent))
    assert "tiny-sdxl" in refused(2, *WORDS, "-m", "tiny-sdlx")


def test_a_missing_file(refused, tmp_path):
    assert "nothing.safetensors" in refused(2, *WORDS, "-m", tmp_path / "nothing.safetensors")


DEEP = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
FILES = {
    "truncated": (sdxl_file, lambda data: data[: len(data) // 2 + 300], "incomplete|truncated"),
    "empty": (None, b"", "empty|incomplete"),
    "zeros": (None, bytes(1 << 16), "zero|incomplete"),
    "overlapping": (None, raw({"a": entry(0, 8), "b": entry(4, 12)}, bytes(12)), "overlap|gap|offset"),
    "trailing": (None, small() + b"more", "trailing|after|larger|covered|bytes"),
    "header of 100 MB": (None, struct.pack("<Q", 100_000_000) + b"{}", "header"),
    "nested": (None, raw(DEEP), "nested|deep"),
    "lfs pointer": (None, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 6938040682\n", "LFS"),
    "html": (None, b"<!DOCTYPE html><html><body>Sign in</body></html>", "HTML"),
    "lora": (None, small({"lora_unet_down.lora_up.weight": [4, 4]}), "LoRA"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file(refused, tmp_path, kind):
    build, content, message = FILES[kind]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content if build is None else content(build(path).read_bytes()))
    pytest_match(message, refused(5, *WORDS, "-m", path))


def pytest_match(pattern, text):
    import re

    assert re.search(pattern, text, re.IGNORECASE), text


class Marker:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("name", ["model.ckpt", "model.pt", "model.bin", "model.safetensors"])
def test_a_pickle_is_not_opened(refused, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(pickle.dumps(Marker(tmp_path / "executed")))
    pytest_match("pickle", refused(5, *WORDS, "-m", path))
    assert not (tmp_path / "executed").exists()


def test_a_folder_with_python_in_it(refused, tmp_path):
    folder = sdxl_folder(tmp_path / "model")
    (folder / "unet" / "network.py").write_text("raise SystemExit('executed')")
    assert "network.py" in refused(5, *WORDS, "-m", folder)


def test_a_folder_with_a_class_that_is_not_known(refused, tmp_path):
    folder = sdxl_folder(tmp_path / "model")
    index = json.loads((folder / "model_index.json").read_text())
    index["unet"] = ["os", "system"]
    (folder / "model_index.json").write_text(json.dumps(index))
    assert "system" in refused(5, *WORDS, "-m", folder)


def test_weights_that_fit_no_network(refused, tmp_path):
    """Right names and a proper header, but not the tensors that the configuration needs."""
    pytest_match("unet|text_encoder|configuration|tensor", refused(5, *WORDS, "-m", sdxl_folder(tmp_path / "model")))


# ---- values


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "0x64"), "0x64"),
        (("--size=-8x64",), "-8x64"),
        (("--size", "65x64"), "64x64"),
        (("--size", "big"), "big"),
        (("--steps", "0"), "0"),
        (("--steps", "many"), "many"),
        (("--guidance", "nan"), "nan"),
        (("--guidance", "inf"), "inf"),
        (("--strength", "1.5"), "1.5"),
        (("--refiner-at", "1.5"), "1.5"),
        (("--hires", "0"), "0"),
        (("--count", "0"), "0"),
        (("--seed", "-1"), "-1"),
        (("--sampler", "eulr"), "euler"),
        (("--sampler", "ddim", "--schedule", "caras"), "karras"),
        (("--device", "cuda:99"), "cuda:99"),
        (("--attention", "flash"), "flash"),
        (("--dtype", "int3"), "int3"),
        (("-o", "image.gif"), "gif"),
        (("-o", "[nothing].png"), "nothing"),
        (("--bogus",), "bogus"),
    ],
)
def test_a_value_that_cannot_work(refused, tiny_sdxl_folder, options, message):
    code = 6 if "--device" in options else 2
    assert message in refused(code, *WORDS, "-m", tiny_sdxl_folder, *options)


# ---- images that go in


def damaged_image(path, kind):
    if kind == "huge":
        Image.new("1", (20_000, 20_000)).save(path)
    elif kind == "truncated":
        Image.effect_noise((300, 300), 50).save(path)
        path.write_bytes(path.read_bytes()[:2000])
    elif kind == "text":
        path.write_text("not an image")
    elif kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "postscript":
        path.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")


@pytest.mark.parametrize("kind", ["missing", "huge", "truncated", "text", "empty", "folder", "fifo", "postscript"])
def test_an_init_image_that_cannot_be_read(refused, tiny_sdxl_folder, tmp_path, kind):
    path = tmp_path / "init.png"
    damaged_image(path, kind)
    assert "init.png" in refused(7, *WORDS, "-m", tiny_sdxl_folder, "--init", path)


# ---- where images go


def test_a_folder_that_cannot_be_written_to(refused, tiny_sdxl_folder, tmp_path):
    (tmp_path / "file").touch()
    assert "file" in refused(7, *WORDS, "-m", tiny_sdxl_folder, "-o", tmp_path / "file" / "a.png")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that no one can write to is found on Linux")
def test_a_folder_that_not_even_root_can_write_to(refused, tiny_sdxl_folder):
    assert "/proc" in refused(7, *WORDS, "-m", tiny_sdxl_folder, "-o", "/proc/a.png")


@pytest.mark.slow
def test_a_full_disk(tiny_sdxl_folder, tmp_path):
    """Full from the first byte on: the image is refused, and no part of it stays."""
    command = [sys.executable, "-m", "mezzotint", *WORDS, "-m", str(tiny_sdxl_folder), "-o", str(tmp_path / "a.png")]

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=small_files, timeout=200)
    assert done.returncode == 7, done.stderr
    assert "Traceback" not in done.stderr and "a.png" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_prompt_cannot_leave_the_folder(capsys, tiny_sdxl_folder, tmp_path):
    words = (*WORDS, "-m", str(tiny_sdxl_folder), "-o", f"{tmp_path}/in/[prompt].png")
    assert main([*words[:1], "../../../escaped", *words[2:]]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert made.resolve().parent == (tmp_path / "in").resolve()
    assert stat.S_ISREG(made.stat().st_mode)

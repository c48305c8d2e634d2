"""`-o` of the commands that make images: a folder keeps names, - is standard output, the null device discards."""

import os
from pathlib import Path

import pytest
from PIL import Image

from mezzotint.cli import main
from mezzotint.cli.output_target import output_of_several
from mezzotint.errors import UsageError


@pytest.fixture
def call(capfdbinary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        said = capfdbinary.readouterr()
        return code, said.out, said.err.decode()

    return run


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("red", "blue"):
        Image.new("RGB", (16, 16), name).save(folder / f"{name}.png")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("output", ["out", "out/", "a/out.v2"])
def test_results_of_a_folder_keep_their_names(call, pictures, tmp_path, output):
    assert call("control", pictures, "--preprocess", "gray", "-o", output, "-q")[0] == 0
    assert names(tmp_path / output) == ["blue-gray.png", "red-gray.png"]
    code, _, err = call("control", pictures, "--preprocess", "gray", "-o", output, "-q")
    assert code == 0 or "exists" in err
    assert {"blue-gray.png", "red-gray.png"} <= set(names(tmp_path / output))


def test_a_folder_with_one_image_is_a_folder_too(call, pictures, tmp_path):
    (pictures / "blue.png").unlink()
    assert call("control", pictures, "--preprocess", "lines", "-o", "large", "-q")[0] == 0
    assert names(tmp_path / "large") == ["red-lines.png"]


def test_one_image_becomes_the_file(call, pictures, tmp_path):
    assert call("control", pictures / "red.png", "--preprocess", "gray", "-o", "edges", "-q")[0] == 0
    assert (tmp_path / "edges.png").is_file()


@pytest.mark.parametrize(
    ("output", "count", "found"),
    [
        ("out", 2, "out/"),
        ("out/", 2, "out/"),
        ("-", 2, "-"),
        ("[seed]", 2, "[seed]"),
        ("a.b", 2, "a.b/"),
        (None, 2, None),
    ],
)
def test_the_output_of_several(output, count, found):
    assert output_of_several(output, count) == found
    with pytest.raises(UsageError, match="cannot all become x.webp"):
        output_of_several("x.webp", count)


def test_an_image_goes_to_standard_output(call, pictures, tmp_path):
    code, out, _ = call("control", pictures / "red.png", "--preprocess", "gray", "-o", "-")
    assert code == 0 and out.startswith(b"\x89PNG") and out.endswith(b"IEND\xaeB`\x82")
    assert names(tmp_path) == ["in"] and names(pictures) == ["blue.png", "red.png"]


@pytest.mark.parametrize("device", ["/dev/null", os.devnull])
def test_the_null_device_discards(call, pictures, tmp_path, device):
    code, out, _ = call("control", pictures, "--preprocess", "gray", "-o", device)
    assert (code, out) == (0, b"")
    assert names(tmp_path) == ["in"] and not Path(f"{device}.png").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("control", "in", "--preprocess", "gray", "-o", "-"), "one image to standard output, but 2 are made"),
        (("control", "in/red.png", "--preprocess", "gray", "-o", "-", "--json"), "leave --json"),
        (("generate", "x", "--count", "3", "-o", "-"), "but 3 are made"),
        (("generate", "x", "-o", "-", "--jsonl"), "leave --json and --jsonl out"),
        (("lora", "merge", "a.safetensors", "-o", "-"), "-o - is for commands that make images"),
        (("run", "job.toml", "-o", "-"), "name a file or folder"),
        (("train", "in", "-m", "x", "-o", "/dev/null"), "-o /dev/null is for commands that make images"),
    ],
)
def test_what_cannot_go_there_is_refused(call, pictures, tmp_path, words, told):
    code, _, err = call(*words)
    assert code == 2 and told in err
    assert names(tmp_path) == ["in"]

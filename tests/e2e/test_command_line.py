"""From the words of a command to images on disk, with real engines and small random models."""

import io
import json
import socket
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mezzotint.cli import main

pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture
def mezzotint(capsys):
    """Run a command: its exit code, what it said on stdout, and on stderr."""

    def run(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def generate(mezzotint, tmp_path):
    """Make images that must succeed; the result as JSON."""

    def run(*words):
        code, out, err = mezzotint("generate", *words, "-o", f"{tmp_path}/out/", "--json")
        assert code == 0, err
        return json.loads(out)

    return run


def pixels(path):
    return np.array(Image.open(path))


def test_the_same_words_and_seed_are_the_same_image_and_it_makes_itself_again(generate, tiny_pixart_folder):
    words = ("a red house by the sea at dusk", "-m", tiny_pixart_folder, "--size", "64x64", "--steps", 3, "--seed", 7)
    paths = [generate(*words)["images"][0]["path"] for _ in range(2)]
    paths.append(generate("--from", paths[0])["images"][0]["path"])
    assert len(set(paths)) == 3
    np.testing.assert_array_equal(pixels(paths[0]), pixels(paths[1]))
    np.testing.assert_array_equal(pixels(paths[0]), pixels(paths[2]))


@pytest.mark.slow
def test_refiner_and_second_pass_name_each_stage(generate, tiny_sdxl_folder, tiny_refiner_folder):
    words = ("a house", "-m", tiny_sdxl_folder, "--size", "64x64", "--steps", 10)
    refined = generate(*words, "--refiner", tiny_refiner_folder, "--refiner-at", 0.8)
    enlarged = generate(*words, "--hires", 2)
    both = generate(*words, "--hires", 2, "--refiner", tiny_refiner_folder, "--refiner-at", 0.8)
    sizes = [[(stage["width"], len(stage["sigmas"]) - 1) for stage in r["stages"]] for r in (refined, enlarged, both)]
    assert sizes == [[(64, 8), (64, 2)], [(64, 10), (128, 5)], [(64, 10), (128, 3), (128, 2)]]
    models = [Path(stage["model"]["path"]).name for stage in both["stages"]]
    assert models == ["tiny-sdxl", "tiny-sdxl", "tiny-refiner"]
    assert Image.open(both["images"][0]["path"]).size == (128, 128)


def test_a_single_file_loads_with_the_network_cut_off(generate, tiny_single_file, monkeypatch):
    def cut_off(*_):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", cut_off)
    monkeypatch.setattr(socket, "getaddrinfo", cut_off)
    result = generate("a house", "-m", tiny_single_file, "--size", "64x64", "--steps", 2)
    assert result["stages"][0]["model"]["family"] == "sdxl"


def test_an_init_image_and_a_preview_of_each_step(generate, tiny_sdxl_folder, tmp_path):
    Image.linear_gradient("L").resize((64, 64)).save(tmp_path / "init.png")
    result = generate(
        "a house", "-m", tiny_sdxl_folder, "--init", tmp_path / "init.png", "--strength", 0.5, "--steps", 6,
        "--preview-dir", tmp_path / "steps",
    )  # fmt: skip
    assert result["strength"] == 0.5 and len(result["stages"][0]["timesteps"]) == 3
    assert len(list((tmp_path / "steps").iterdir())) == 3


def test_json_lines_tell_what_happens(mezzotint, tiny_sdxl_folder, tmp_path):
    words = ("a house", "-m", tiny_sdxl_folder, "--size", "64x64", "--steps", 2, "-o", tmp_path / "a.png")
    code, out, _ = mezzotint("generate", *words, "--jsonl")
    lines = [json.loads(line) for line in io.StringIO(out)]
    assert code == 0 and [next(iter(line)) for line in lines[-2:]] == ["event", "result"]
    assert {line["event"]["type"] for line in lines[:-1]} == {"Loading", "Encoding", "Step", "Decoding", "Saved"}


@pytest.mark.slow
def test_a_name_in_use_is_kept(mezzotint, tiny_sdxl_folder, tmp_path):
    words = ("generate", "a house", "-m", tiny_sdxl_folder, "--size", "64x64", "--steps", 1, "-o", tmp_path / "a.png")
    made = [mezzotint(*words)[1].strip() for _ in range(2)]
    assert [Path(path).name for path in made] == ["a.png", "a-1.png"]
    assert mezzotint(*words, "--overwrite")[1].strip() == str(tmp_path / "a.png")
    assert len(list(tmp_path.iterdir())) == 2


def test_models_and_images_are_looked_at(mezzotint, generate, tiny_sdxl_folder, tiny_single_file):
    made = generate("a house", "-m", tiny_sdxl_folder, "--size", "64x64", "--steps", 1)["images"][0]["path"]
    code, out, _ = mezzotint("inspect", made, "--json")
    assert code == 0 and json.loads(out)["program"] == "mezzotint"
    code, out, _ = mezzotint("models", "list", "--models-folder", tiny_single_file.parent, "--json")
    listed = {Path(model["path"]).name: model for model in json.loads(out)["models"]}
    assert listed["tiny-sdxl.safetensors"]["family"] == listed["tiny-sdxl"]["family"] == "sdxl"

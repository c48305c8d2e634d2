"""A training that is killed again and again ends in the file of one that was not."""

import random
import subprocess
import sys
import time

import pytest
from safetensors import safe_open
from training_runs import write_dataset

KILLS = 5
OPTIONS = (
    *("--steps", "40", "--rank", "2", "--batch", "2", "--resolution", "64", "--epochs", "20", "--regularization", "2"),
    *("--validation", "0.25", "--flip", "--ema", "0.9", "--device", "cpu", "--dtype", "float32", "-q"),
)
LONGEST = 10  # seconds until a kill


def command(*words):
    return [sys.executable, "-P", "-m", "mezzotint", "train", *map(str, words)]


def tensors(path):
    with safe_open(path, "np") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


@pytest.fixture(scope="module")
def begun(tmp_path_factory, tiny_pixart_folder):
    """The words of a training, and the tensors that it ends in."""
    folder = tmp_path_factory.mktemp("whole")
    words = (write_dataset(folder / "images"), "-m", tiny_pixart_folder, *OPTIONS)
    subprocess.run(command(*words, "-o", folder / "mine"), check=True, timeout=120)
    return words, tensors(folder / "mine.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_moment(begun, tmp_path, seed):
    words, whole = begun
    draws, lora = random.Random(seed), tmp_path / "mine.safetensors"
    for _ in range(KILLS):
        process = subprocess.Popen(_words(words, tmp_path), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(draws.random() * LONGEST)
        process.kill()
        _, told = process.communicate()
        assert b"Traceback" not in told
        if lora.exists():
            break
    if not lora.exists():
        subprocess.run(_words(words, tmp_path), check=True, timeout=120)
    assert tensors(lora) == whole
    assert not list(tmp_path.glob("**/*.safetensors.*"))


def _words(words, folder):
    begun = (folder / "mine.training" / "training.json").exists()
    return command(*(("--resume",) if begun else words), "-o", folder / "mine", *(() if not begun else ("-q",)))

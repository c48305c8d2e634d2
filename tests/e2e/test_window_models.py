"""The models of the real window, with the starter: fetched, made smaller, checked, taken off, listed again."""

import threading
from pathlib import Path

import pytest
from driven_window import DrivenWindow, window_environment
from model_files import sdxl_file
from model_server import Served, model_server

__all__ = ["model_server"]

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.timeout(900), pytest.mark.slow]

STARTER = Path(__file__).parents[2] / "assets" / "starter" / "dit"
WEIGHTS = "transformer/diffusion_pytorch_model.safetensors"


@pytest.fixture
def held(model_server):
    """A model that comes by half and waits, and one whose weights are not what was promised."""
    repository = model_server.add("owner/small", STARTER)
    repository.card = {"license": "apache-2.0"}
    repository.files[WEIGHTS].hold = threading.Event()
    bad = model_server.add("owner/bad", STARTER).files
    data = bad[WEIGHTS].data
    bad[WEIGHTS] = Served(data, sends=data[:-1] + bytes([data[-1] ^ 1]))
    yield repository.files[WEIGHTS]
    repository.files[WEIGHTS].hold = None


def test_models_are_fetched_made_smaller_and_used(held, model_server, tmp_path):
    environment = window_environment(tmp_path, HUB=model_server.url)
    home = Path(environment["HOME"])
    foreign = sdxl_file(home / "programs" / "ComfyUI" / "models" / "checkpoints" / "foreign.safetensors")
    driven = DrivenWindow("window_models_driver.py", "all", environment, tmp_path / "models.log")
    try:
        row = driven.told("listed")["row"]
        assert row[0] == "starter-dit" and "bundled" in row and all(row)

        offered = driven.told("offered")
        assert not offered["problem"] and offered["bytes"] > 1_000_000 and "apache" in offered["licence"].lower()
        assert model_server.sent(WEIGHTS) == 0  # looking fetches nothing
        assert model_server.half.wait(120)
        (home / "half").touch()
        stopped = driven.told("stopped")
        assert stopped == {"part": "stopped", "state": "cancelled", "again": True}
        held.hold.set()
        held.hold = None
        (home / "go").touch()
        fetched = driven.told("fetched")
        assert fetched["state"] == "done", fetched
        assert model_server.sent(WEIGHTS) < 1.6 * len(held.data)  # resumed, not begun anew

        wrong = driven.told("wrong checksum")
        assert wrong["state"] == "failed" and "from the announced content" in wrong["outcome"], wrong
        assert not [name for name in wrong["listed"] if "bad" in name]

        made = driven.told("made with it")
        assert made["model"] == fetched["id"] and not made["failure"] and Path(made["path"]).is_file()

        quantized = driven.told("quantized")
        assert quantized["state"] == "done", quantized
        assert quantized["progress"] > 1 and "int8" in quantized["row"]
        made = driven.told("made with the copy")
        assert made["model"] == quantized["row"][0] and not made["failure"] and Path(made["path"]).is_file()

        assert driven.told("verified")["state"] == "done"
        places = driven.told("places")
        assert places["again"]
        assert any("ComfyUI" in line and "added by you" in line for line in places["lines"])
        assert places["path"] == str(foreign)  # used where it lies
        assert driven.told("closed")["code"] == 0
        assert driven.process.wait(60) == 0
    finally:
        driven.kill()

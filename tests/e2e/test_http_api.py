"""`mezzotint serve` and the bundled model, as a client library of A1111's API sees them."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from mezzotint.api_server.access import Access
from mezzotint.api_server.serving import ServeSettings, serve
from mezzotint.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.images.metadata import read_metadata

pytestmark = pytest.mark.requires_package("webuiapi")

TOKEN = "a token of many characters"
SMALL = {"width": 64, "height": 64, "cfg_scale": 3, "seed": 5}
PAGE = Path(__file__).parents[2] / "docs" / "manual" / "http_api.md"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address, token and output folder of a server with the real engine."""
    folder, ready, stop = tmp_path_factory.mktemp("served"), queue.Queue(), threading.Event()
    settings = ServeSettings(output=folder, access=Access(token=TOKEN), port=0)
    catalog = Catalog.standard()
    serving = threading.Thread(
        target=serve, args=(settings, catalog, lambda: Engine(catalog), stop.is_set, ready.put), daemon=True
    )
    serving.start()
    yield {"url": ready.get(timeout=60), "token": TOKEN, "folder": folder}
    stop.set()
    serving.join(60)
    assert [path for path in folder.iterdir() if path.suffix != ".png"] == []


@pytest.mark.slow
def test_ctrl_c_ends_the_command_and_leaves_nothing_behind(tmp_path):
    words = [sys.executable, "-m", "mezzotint", "serve", "--port", "0", "-o", str(tmp_path / "out"), "--json", "-q"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True) as process:
        shown = json.loads(process.stdout.readline())
        assert shown["url"].startswith("http://127.0.0.1:") and shown["token"]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert list((tmp_path / "out").iterdir()) == []


@pytest.fixture
def client(server):
    import webuiapi

    made = webuiapi.WebUIApi(port=int(server["url"].rpartition(":")[2]), sampler="DPM++ 2M", steps=2)
    made.set_auth("me", server["token"])
    return made


def test_a_client_makes_images_from_words_and_from_images(client, server):
    first = client.txt2img(prompt="a red house by the sea", **SMALL)
    assert first.image.size == (64, 64) and first.info["all_seeds"] == [5]
    assert first.info["sampler_name"] == "DPM++ 2M" and first.info["ignored_fields"] == []
    assert client.png_info(first.image).info == first.info["infotexts"][0]
    assert list(server["folder"].glob("*.png")) == []
    second = client.img2img(images=[first.image], prompt="a boat", save_images=True, **SMALL)
    (saved,) = server["folder"].glob("*.png")
    with Image.open(saved) as image:
        assert image.convert("RGB").tobytes() == second.image.convert("RGB").tobytes()
    assert read_metadata(saved).strength == 0.75
    mask = Image.new("L", (64, 64))
    ImageDraw.Draw(mask).rectangle((16, 16, 47, 47), fill=255)
    inpainted = client.img2img(images=[first.image], mask_image=mask, prompt="a boat", inpaint_full_res=False, **SMALL)
    assert inpainted.image.getpixel((2, 2)) == first.image.getpixel((2, 2))
    assert inpainted.image.getpixel((32, 32)) != first.image.getpixel((32, 32))


def test_a_client_sees_and_chooses_what_there_is(client):
    assert "starter-dit" in client.util_get_model_names() and "Euler a" in client.util_get_sampler_names()
    client.util_set_model("starter-xl")
    assert client.util_get_current_model() == "starter-xl"
    client.util_set_model("starter-dit")
    assert client.get_progress()["state"]["job_count"] == 0 and client.get_loras() == []
    assert client.get_memory()["ram"]["total"] > 0 and client.get_cmd_flags()["api"]
    made = client.controlnet_detect([Image.new("RGB", (24, 16), "red")], module="canny")
    assert made.image.size == (24, 16)
    assert made.json["ignored_fields"] == ["controlnet_threshold_a", "controlnet_threshold_b"]
    with pytest.raises(RuntimeError, match="describes images"):
        client.interrogate(Image.new("RGB", (8, 8)))
    with pytest.raises(RuntimeError, match="multiples of"):
        client.txt2img(prompt="a house", width=65, height=64)


def test_a_client_has_an_image_enlarged(client):
    made = client.extra_single_image(Image.new("RGB", (24, 16), "red"), upscaler_1="starter-2x", upscaling_resize=2)
    assert made.image.size == (48, 32)
    kept = client.extra_single_image(Image.new("RGB", (8, 8), "red"))
    assert kept.image.size == (8, 8) and kept.image.getpixel((0, 0))[:3] == (255, 0, 0)
    with pytest.raises(RuntimeError, match="known are None, Lanczos, Nearest, starter-2x"):
        client.extra_single_image(Image.new("RGB", (8, 8)), upscaler_1="R-ESRGAN 4x+")


def test_the_example_of_the_manual(server, tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEZZOTINT_API_TOKEN", server["token"])
    example = example.replace("http://127.0.0.1:7860", server["url"])
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__"})
    with Image.open("house.png") as image:
        assert image.size == (128, 128)
    assert "seed 7" in capsys.readouterr().out

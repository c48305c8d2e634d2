"""What the version before (65e059d) has written: a queue, a batch, an image, settings. It is read, and goes on.

`tests/fixtures/earlier` holds its files as it left them.
"""

import lzma
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recorded_again import read_metadata

from mezzotint.catalog import Catalog
from mezzotint.cli.entry import run
from mezzotint.engine import Engine
from mezzotint.jobs.drain import DrainControl, drain
from mezzotint.jobs.store import JobStore, Lease
from mezzotint.protocol import Sampling, Transition

WRITTEN_IN = "/tmp/earlier"


@pytest.fixture
def earlier(tmp_path) -> Path:
    folder = Path(__file__).parents[1] / "fixtures" / "earlier"
    copied = Path(shutil.copytree(folder, tmp_path / "earlier"))
    packed = copied / "queue.sqlite.xz"
    packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
    return copied


def test_an_image_is_made_again_with_the_settings_that_it_carries(earlier, tmp_path):
    request = read_metadata(earlier / "made.png").request
    first, second = request.cascade.stages
    assert (request.prompt, request.negative_prompt, request.seed) == ("a red house by the sea", "rain", 7)
    assert (first.sampling.sampler, first.sampling.steps, first.sampling.guidance_scale) == ("euler", 3, 4.0)
    assert first.sampling.cfg_interval is None and second.sampling == first.sampling
    assert request.cascade.transitions == (Transition(scale=1.5, strength=0.4),)
    assert run(["generate", "--from", str(earlier / "made.png"), "-o", str(tmp_path / "again.png")]) == 0
    old, new = (np.array(Image.open(path)).astype(int) for path in (earlier / "made.png", tmp_path / "again.png"))
    assert np.abs(old - new).max() <= 6  # processors round otherwise, and the text encoders had 16 bits then


def test_a_batch_goes_on_and_makes_what_it_has_not(earlier, monkeypatch, capsys):
    folder = earlier / "batch"
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.glob("out/*.png")}
    assert run(["run", "job.toml"]) == 0
    assert capsys.readouterr().out == ""  # both are made
    job = folder / "job.toml"
    job.write_text(job.read_text("utf-8").replace('"a blue boat"]', '"a blue boat", "a green tent"]'), "utf-8")
    assert run(["run", "job.toml"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    after = {path.name: path.read_bytes() for path in folder.glob("out/*.png")}
    assert len(before) == 2 and len(after) == 3 and before.items() <= after.items()


def test_a_queue_is_drained(earlier, tmp_path):
    path = earlier / "queue.sqlite"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE requests SET request = replace(request, ?, ?)", (WRITTEN_IN, str(tmp_path)))
    ended = []
    with JobStore.open(path).store as store, Lease.acquire("cpu", tmp_path) as lease:
        assert [(row.title, row.state) for row in store.rows()] == [
            ("a green tent", "waiting"),
            ("a {red|blue} barn", "waiting"),
        ]
        control = DrainControl(on_event=lambda _: None, cancelled=lambda: False)
        drain(store, lease.owner, Engine(Catalog.standard([])), control, on_ended=ended.append)
        assert [row.state for row in store.rows()] == ["done", "done"]
    assert [one.error for one in ended] == [None] * 3
    assert len(list(tmp_path.rglob("*.png"))) == 4 + 3  # of the fixtures, too


@pytest.mark.requires_package("PySide6")
def test_settings_and_the_create_page_are_as_they_were_left(earlier):
    from mezzotint_app.settings import Settings
    from mezzotint_app.stored import read
    from mezzotint_app.viewmodel.create.state import CreateState, LoraChoice

    settings, problem = read(Settings, earlier / "window" / "window.json")
    assert problem is None
    assert (settings.theme, settings.memory, settings.vram_limit_bytes) == ("dark", "balanced", 8 << 30)
    assert (settings.when_closed, settings.gallery_folders) == ("stop", ("/more",))
    state, problem = read(CreateState, earlier / "window" / "create.json")
    assert problem is None
    kept = state.per_model["starter-dit"]
    assert (state.prompt, state.seed, state.history) == ("a house", 5, ("a house", "a boat"))
    assert (kept.steps, kept.guidance_scale, kept.second_scale, kept.quantization) == (12, 6.5, 1.25, "int8")
    assert kept.loras == (LoraChoice(path="/l.safetensors", weight=0.5, on=False),)
    assert isinstance(kept, Sampling) and kept.prediction_type == "v_prediction" and kept.cfg_interval is None

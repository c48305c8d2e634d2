"""A dataset of four images, and trainings of tiny models on it."""

from dataclasses import replace

import pytest
from PIL import Image
from training_runs import SETTINGS, write_dataset

from mezzotint.catalog.catalog import Catalog
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import TrainingRequest, TrainingSettings

CAPTIONS = ("a red castle", "a green castle", None)


@pytest.fixture
def dataset(tmp_path):
    return write_dataset(tmp_path / "images")


@pytest.fixture
def request_of(dataset, tmp_path, tiny_pixart_folder):
    """A request; keywords belong to it or to its settings."""

    def call(model=tiny_pixart_folder, **changes):
        settings = {name: changes.pop(name) for name in list(changes) if hasattr(SETTINGS, name)}
        values = {"dataset": str(dataset), "model": ModelRef(id=str(model)), "name": "mine", "output": str(tmp_path)}
        return TrainingRequest(**values | changes, settings=replace(SETTINGS, **settings))

    return call


@pytest.fixture
def train():
    """Train; returns the result and all events."""

    def call(request, *, cancelled=lambda: False, on_event=None, **options):
        events = []

        def told(event):
            events.append(event)
            if on_event is not None:
                on_event(event)

        return TrainingRun(request, Catalog.standard(), told, cancelled).run(**options), events

    return call


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A folder of four images with captions."""
    folder = tmp_path_factory.mktemp("files") / "pictures"
    folder.mkdir()
    for number in range(4):
        Image.linear_gradient("L").rotate(90 * number).resize((64, 64)).convert("RGB").save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(f"a zibble in the number {number}")
    return folder


@pytest.fixture
def castles(tmp_path):
    """Three images, the last without a caption."""
    folder = tmp_path / "castles"
    folder.mkdir()
    for number, caption in enumerate(CAPTIONS):
        Image.new("RGB", (96 + 32 * number, 96), (40 * number, 90, 120)).save(folder / f"{number}.png")
        if caption is not None:
            (folder / f"{number}.txt").write_text(caption, "utf-8")
    return folder


@pytest.fixture
def request_for(castles, tmp_path):
    """A request of two steps; named fields of the request and of its settings replace others."""

    def make(model, **fields):
        own = {name: fields.pop(name) for name in ("name", "prompts", "dataset") if name in fields}
        usual = {"steps": 2, "rank": 2, "batch": 1, "resolution": 64, "epochs": 2, "regularization": 0, "device": "cpu"}
        return TrainingRequest(
            **{"dataset": str(castles), "name": "castle", "trigger": "zibble"} | own,
            model=ModelRef(id=str(model)),
            output=str(tmp_path / "loras"),
            settings=TrainingSettings(**usual | fields),
        )

    return make

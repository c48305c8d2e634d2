"""Models as training plans see them."""

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.model_sources import sources_of
from mezzotint.protocol import ModelRef
from mezzotint.training.planning import step_tracing
from mezzotint.training.planning.known import model_of


@pytest.fixture
def activations(tiny_pixart_folder, tmp_path):
    """Plans the model as another process would; the folder of footprints stays."""

    def planned(folder="footprints", **changes):
        found = Catalog.standard().find(ModelRef(id=str(tiny_pixart_folder)))
        sources = sources_of(found.checkpoint, found.detected)
        cache = None if folder is None else tmp_path / folder
        denoiser = model_of(sources, model_id="tiny", dtype="float32", cache=cache).denoiser
        usual = {"checkpointing": "none", "scheme": "none", "positions": 64, "batch": 1, "rank": 4, "offloads": False}
        return denoiser.activations(**usual | changes)

    return planned


@pytest.mark.slow
def test_what_was_traced_is_remembered(activations, monkeypatch):
    found = [activations(), activations(batch=2)]
    assert len(set(found)) == 2

    def fail(*_, **__):
        raise AssertionError("traced again")

    monkeypatch.setattr(step_tracing, "traced_step", fail)
    monkeypatch.setattr(step_tracing, "traced_encoding", fail)
    assert [activations(), activations(batch=2)] == found
    for changed in ({"rank": 8}, {"positions": 256}, {"offloads": True}, {"scheme": "int8"}, {"folder": None}):
        with pytest.raises(AssertionError, match="traced again"):
            activations(**changed)

"""While it is healed a network lacks its removed blocks, and is asked as the original in between."""

import pytest
import torch
from tiny_training import TinyTraining

from mezzotint.jobs.pruning.healing import HealingAdapter
from mezzotint.training.skipping import SkippableBlocks


@pytest.fixture(scope="module")
def tiny(tiny_pixart_folder):
    return TinyTraining(tiny_pixart_folder, images=2)


def test_detached_it_computes_as_the_original(tiny):
    noise, asked = torch.randn(2, *tiny.images[0].latents.shape), tiny.trainer()._asked(tiny.images)
    ask = lambda: asked.trained(noise, torch.tensor([500, 500]))  # noqa: E731
    blocks = SkippableBlocks(tiny.network, ask)
    adapter = HealingAdapter(tiny.model, tiny.family.denoiser_component, 2, blocks, blocks.names[:1], 0)
    with torch.no_grad():
        whole = ask()
        for parameter in adapter.parameters():
            parameter += 0.1
        with adapter.attached():
            changed = ask()
            with pytest.raises(KeyError), adapter.detached():
                assert torch.equal(ask(), whole)
                raise KeyError
            assert torch.equal(ask(), changed)
        assert torch.equal(ask(), whole)
    assert (changed - whole).abs().max() > 0.01

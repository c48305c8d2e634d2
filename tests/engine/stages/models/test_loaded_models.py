"""Models that stay: who goes first, and what two of them have in common."""

from pathlib import Path

import torch
from torch import nn

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.quantization.policy import Choice
from mezzotint.stages.models.loaded_models import LoadedModels, share, weights_bytes

CPU = torch.device("cpu")
LAYER = 4 * 64 * 64


def sources_of(folder):
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def model(sources, networks=(), **changes):
    made = {name: nn.Linear(64, 64, bias=False) for name in networks}
    stamps = {path: (1, 1) for part in sources.components.values() for path in part.files}
    values = {"sources": sources, "device": CPU, "dtype": torch.float32, "networks": made, "stamps": stamps}
    return LoadedModel(**values | changes)


def test_the_one_used_longest_ago_goes_first(tiny_sdxl_folder):
    sources, warm = sources_of(tiny_sdxl_folder), LoadedModels()
    a, b, c = (warm.take((name,), lambda: model(sources, ["unet"])) for name in "abc")
    assert warm.take(("a",), lambda: None) is a and warm.models == [b, c, a]
    assert warm.trim(3 * LAYER, [a]) == []
    assert warm.trim(2 * LAYER, [a]) == [b] and warm.trim(0, [a]) == [c]
    assert warm.models == [a] and warm.drop([a, b]) == [a] and len(warm) == 0


def test_shared_networks_count_once(tiny_sdxl_folder):
    sources = sources_of(tiny_sdxl_folder)
    first, second = model(sources, ["unet", "vae"]), model(sources)
    assert share(second, [first, second]) == ["unet", "vae"]
    assert second.networks == first.networks and first.shares and second.shares
    assert weights_bytes([first, second]) == 2 * LAYER


def test_what_differs_is_not_shared(tiny_sdxl_folder, tiny_pixart_folder):
    sources = sources_of(tiny_sdxl_folder)
    loaded = model(sources, ["unet"])
    others = [
        model(sources_of(tiny_pixart_folder)),
        model(sources, dtype=torch.float16),
        model(sources, home=torch.device("meta")),
        model(sources, quantization={"unet": Choice(scheme="int8")}),
        model(sources, from_disk=frozenset({"unet"})),
        model(sources, stamps={Path("other"): (2, 2)}),
    ]
    for other in others:
        assert share(other, [loaded]) == [] and not other.shares

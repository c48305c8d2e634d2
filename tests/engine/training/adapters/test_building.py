"""What cannot be trained is refused by name, with the reason."""

from dataclasses import replace

import pytest
from tiny_training import TinyTraining

from mezzotint.errors import UsageError
from mezzotint.families.known import family_of
from mezzotint.protocol import ModelRef
from mezzotint.training.adapters.building import build_adapter, check_adapter
from mezzotint.training.adapters.embedding import EmbeddingAdapter
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.presets import Preset, resolved
from mezzotint.training_protocol import TrainingRequest, TrainingSettings


def request_for(*, word="castle", trigger="", **settings):
    return TrainingRequest(
        dataset="d",
        model=ModelRef(id="m"),
        name="zibble",
        output="o",
        word=word,
        trigger=trigger,
        settings=TrainingSettings(**settings),
    )


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("flux", {"text_encoders": True}, "text encoders are trained for sd15 and sdxl.*flux has a large"),
        ("pixart", {"kind": "embedding"}, "embeddings are trained for sd15 and sdxl"),
        ("krea2", {"kind": "lokr"}, "LoKrs of krea2 cannot be written"),
        ("flux2-klein", {"kind": "lokr"}, "use --kind lora or dora"),
        ("sdxl", {"kind": "embedding", "word": " "}, "name it by --word"),
        ("sdxl", {"kind": "embedding", "trigger": "other"}, "the name of its file, 'zibble', not 'other'"),
        ("sdxl", {"kind": "embedding", "rank": 4}, "--rank has no meaning for --kind embedding"),
        ("sdxl", {"kind": "embedding", "text_encoders": True}, "--text-encoders has no meaning for --kind embedding"),
        ("sdxl", {"factor": 4}, "--factor has no meaning for --kind lora"),
        ("sdxl", {"kind": "dora", "vectors": 4}, "--vectors has no meaning for --kind dora"),
        ("sdxl", {"text_rate": 1e-5}, "--text-rate needs --text-encoders"),
        ("sdxl", {"ranks": "a"}, "--ranks"),
    ],
)
def test_what_is_refused(family, settings, message):
    with pytest.raises(UsageError, match=message):
        check_adapter(request_for(**settings), family_of(family))


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("sdxl", {"text_encoders": True, "text_rate": 1e-5, "kind": "dora"}),
        ("sd15", {"kind": "embedding", "vectors": 3}),
        ("sd15", {"kind": "embedding", "trigger": "zibble"}),
        ("z-image", {"kind": "lokr", "factor": 8, "ranks": "layers.0=2", "layers": "all"}),
    ],
)
def test_what_is_not(family, settings):
    check_adapter(request_for(**settings), family_of(family))


@pytest.fixture(scope="module")
def tiny(tiny_sdxl_folder):
    return TinyTraining(tiny_sdxl_folder, images=0)


def built(tiny, **settings):
    request = request_for(**settings)
    values = resolved(request.settings, Preset(), images=4, side=64)
    return build_adapter(tiny.model, tiny.family, request, values)


def test_text_encoders_have_their_own_rate_and_the_usual_rank(tiny):
    adapter = built(tiny, text_encoders=True, rank=4, ranks="mid_block=2,up_blocks=1", layers="all", text_rate=5e-5)
    assert isinstance(adapter, NetworkAdapter) and adapter.changes_text
    assert set(adapter.layers) == {"unet", "text_encoder", "text_encoder_2"}
    assert [group.share for group in adapter.groups()] == [1.0, 0.5, 0.5]
    assert sum(len(group.parameters) for group in adapter.groups()) == len(adapter.parameters())


def test_only_the_denoiser_unless_it_is_said(tiny):
    adapter = built(tiny, kind="lokr", factor=2)
    assert isinstance(adapter, NetworkAdapter) and not adapter.changes_text and set(adapter.layers) == {"unet"}
    assert all(layer.parts["lokr_w1"].shape == (2, 2) for layer in adapter.layers["unet"].values())


def test_an_embedding_has_vectors_for_both_encoders(tiny):
    adapter = built(tiny, kind="embedding", vectors=3)
    assert isinstance(adapter, EmbeddingAdapter) and adapter.changes_text
    assert {key: tuple(each.shape) for key, each in adapter.named().items()} == {"clip_l": (3, 32), "clip_g": (3, 64)}
    assert adapter.words[0].word == "zibble"


def test_its_regularization_images_and_rate():
    embedding = resolved(replace(TrainingSettings(), kind="embedding"), Preset(), images=4, side=64)
    lora = resolved(TrainingSettings(), Preset(), images=4, side=64)
    assert embedding.regularization == 0 and lora.regularization == 4
    assert embedding.rate == 2e-3 and lora.rate == 1e-4 and lora.text_rate == pytest.approx(1e-5)

"""Several requests in one call, and how far their images are from those made alone."""

from dataclasses import replace

import numpy as np
from PIL import Image

from mezzotint.protocol import GenerateManyRequest, Output


def run_many(engine, requests, events=None, cancelled=lambda: False):
    told = events if events is not None else []
    return engine.generate_many(GenerateManyRequest(requests=tuple(requests)), told.append, cancelled).outcomes


def alone(engine, request):
    result = engine.generate(request, lambda _: None, lambda: False)
    return result.images[0]


def pixels(image) -> np.ndarray:
    return np.array(Image.open(image.path)).astype(int)


def apart(one, other) -> int:
    """The largest difference of two images, of 255."""
    return int(np.abs(pixels(one) - pixels(other)).max())


def images(outcomes):
    return [result.images[0] for result in results(outcomes)]


def results(outcomes):
    for outcome in outcomes:
        assert outcome.failure is None, outcome.failure
    return [outcome.result for outcome in outcomes]


def check_as_alone(engine, requests, made, tmp_path):
    """All images of each result are within 2 of 255 of those that the request gives alone."""
    for request, result in zip(requests, made, strict=True):
        elsewhere = replace(request, output=Output(path=f"{tmp_path}/alone/"))
        expected = engine.generate(elsewhere, lambda _: None, lambda: False)
        assert [(one.seed, one.index) for one in result.images] == [(one.seed, one.index) for one in expected.images]
        assert max(map(apart, result.images, expected.images)) <= 2
        assert result.stages == expected.stages and result.inpaint == expected.inpaint
        assert result.notices == expected.notices

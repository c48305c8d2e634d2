"""Upscalers of requests: which file, and what is recorded of it."""

import pytest

from mezzotint.errors import ModelRefused
from mezzotint.protocol import FileUsed, ResolvedTransition, Transition
from mezzotint.stages.images.upscalers import recorded_transition, transition_upscaler

FILE = FileUsed(path="/upscalers/4x.pth", sha256="ab" * 32, bytes=5)


def test_methods_of_resampling_are_no_files():
    assert transition_upscaler(Transition(upscaler="lanczos"), None) is None
    assert transition_upscaler(Transition(upscaler="4x"), {"4x": FILE}.__getitem__) == FILE


def test_another_file_than_it_was_is_refused():
    asked = Transition(upscaler="4x", upscaler_sha256="cd" * 32)
    with pytest.raises(ModelRefused, match=r"changed since it was used \(sha256 abababababab, was cdcdcdcdcdcd\)"):
        transition_upscaler(asked, lambda _: FILE)


@pytest.mark.parametrize(("asked", "recorded"), [("4x", "4x"), ("/upscalers/4x.pth", "/upscalers/4x.pth")])
def test_a_name_is_recorded_as_it_was_given(asked, recorded):
    found = ResolvedTransition(space="pixel", upscaler=asked, scale=2.0, strength=0.5, upscaler_file=FILE)
    made = recorded_transition(Transition(scale=2.0, strength=0.5, upscaler=asked), found)
    assert (made.upscaler, made.space, made.upscaler_sha256) == (recorded, "pixel", FILE.sha256)

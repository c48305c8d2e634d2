"""Images of networks with linear attention by its kernels: counted, and told where torch did the rest."""

from dataclasses import replace

import pytest
from card_jobs import request_of, run
from fake_linear_attention import FakeLinearAttention, fake_linear_backend
from tiny_variant import write_tiny_variant

from mezzotint.attention.linear import kernels
from mezzotint.protocol import KernelFallback

SELF_TEST = 6  # launches
STEPS, LAYERS = 2, 2


@pytest.fixture
def job(tiny_pixart_folder, tmp_path):
    folder = write_tiny_variant(tiny_pixart_folder, tmp_path / "linear", {"attention": "linear"})
    return request_of(folder, tmp_path=tmp_path, dtype="bfloat16", device="cpu", steps=STEPS)


@pytest.fixture
def install(monkeypatch):
    """Install a library on the CPU."""

    def installed(library):
        backend = fake_linear_backend(library)
        monkeypatch.setattr(kernels, "linear_backend", lambda: backend)
        return library

    return installed


def test_calls_are_counted(job, install):
    library = install(FakeLinearAttention())
    result = run(job)
    calls = library.launches[SELF_TEST:]
    assert result.linear_attention_calls == len(calls) == STEPS * LAYERS
    assert (result.linear_attention_fallbacks, result.attention_fallbacks) == ((), ())


@pytest.mark.slow
def test_a_launch_that_fails_is_told_and_recorded(job, install):
    install(FakeLinearAttention("launch", after=SELF_TEST + 1))
    result = run(job)
    assert result.linear_attention_calls == 1
    assert result.linear_attention_fallbacks == (KernelFallback(reason="the launch failed", calls=1),)
    assert any("linear attention failed" in notice for notice in result.notices)
    again = run(replace(job, seed=8))  # by another engine: the kernels stay off in this process
    assert again.linear_attention_calls == 0 and again.linear_attention_fallbacks[0].reason == "the launch failed"

"""Whose attention runs in networks that ask diffusers' `dispatch_attention_fn`, and that nothing stays behind."""

import contextlib

import pytest
import torch
from torch import nn

from mezzotint.attention import dispatched
from mezzotint.attention.dispatched import attending_dispatched
from mezzotint.attention.session import AttentionSession


class Network(nn.Module):
    """Records which session its attention would ask; its processor is in a module that has the function."""

    def __init__(self, fails=None):
        super().__init__()
        from diffusers.models.transformers.transformer_flux import FluxAttnProcessor

        self.processor, self.seen, self._fails = FluxAttnProcessor(), [], fails

    def forward(self, x):
        self.seen.append(dispatched._session.get())
        if self._fails is not None:
            raise self._fails
        return x


@pytest.mark.parametrize("fails", [None, ValueError, KeyboardInterrupt])
def test_the_innermost_session_runs_and_none_afterwards(fails):
    network, outer, inner = Network(fails), session(), session()
    with attending_dispatched(outer, [network]):
        with attending_dispatched(inner, [network]):
            run(network)
            run(network)
        run(network)
    assert dispatched._session.get() is None
    assert [id(each) for each in network.seen] == [id(inner), id(inner), id(outer)]


def session():
    return AttentionSession(asked="reference", chosen="reference", kernels=None, tell=lambda *_: None)


def run(network):
    with contextlib.suppress(ValueError, KeyboardInterrupt):
        network(torch.zeros(1))

"""Attention of a training: by our kernels, forward and backward, where both pass their self-tests."""

from collections.abc import Iterator
from contextlib import contextmanager

from mezzotint.attention.backward import backward_problem
from mezzotint.attention.processor import attending
from mezzotint.attention.selection import AttentionBackends, torch_attention
from mezzotint.attention.session import AttentionSession
from mezzotint.dispatch.dispatcher import Tell
from mezzotint.families.family import LoadedModel
from mezzotint.protocol import Attention


@contextmanager
def training_attention(
    model: LoadedModel, asked: Attention, tell: Tell, backends: AttentionBackends | None = None
) -> Iterator[AttentionSession]:
    """Use the requested attention in the model's networks inside the context; the kernels are tested before it.

    Raises UsageError if the requested attention cannot run on the model's device.
    """
    device, dtype = str(model.device), str(model.dtype).removeprefix("torch.")
    session = (backends or AttentionBackends()).session(asked, device, dtype, tell)
    problem = None if session.kernels is None else backward_problem(device, dtype)
    if problem is not None:
        session.give_up(f"gradients: {problem}")
    try:
        with torch_attention(session), attending(session, model.networks.values()):
            model.attention = None if session.used == "sdpa" else session
            yield session
    finally:
        model.attention = None

"""Which kernels of GroupNorm a job has."""

import torch
from fake_group_norm import FakeGroupNorm, fake_group_norm_backend

from mezzotint.dispatch.library import Unavailable
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.normalization.self_test import CASES

NETWORK = torch.nn.Sequential(torch.nn.GroupNorm(4, 32))


def session_of(backend, dtype="bfloat16", networks=(NETWORK,), device="cpu"):
    told = []
    return backend.session(device, dtype, networks, lambda code, message: told.append(code)), told


def test_kernels_that_pass_their_test_are_used():
    library = FakeGroupNorm()
    session, told = session_of(fake_group_norm_backend(library))
    assert (session.used, told, len(library.launches)) == ("kernels", [], len(CASES))


def test_kernels_that_do_not_are_told():
    session, told = session_of(fake_group_norm_backend(FakeGroupNorm("wrong")))
    assert (session.used, told) == ("torch", ["group_norm_fell_back"])
    assert "the self-test failed" in session.fallbacks[0].reason


def test_what_has_no_norms_needs_no_test():
    library = FakeGroupNorm()
    session, _ = session_of(fake_group_norm_backend(library), networks=(torch.nn.Linear(2, 2), None))
    assert (session.used, library.launches) == ("torch", [])


def test_nothing_is_said_where_there_are_none():
    def missing():
        raise Unavailable("not installed")

    for backend, dtype in (
        (fake_group_norm_backend(FakeGroupNorm()), "float32"),
        (GroupNormBackend(missing, "cpu"), "bfloat16"),
        (GroupNormBackend(), "bfloat16"),
    ):
        session, told = session_of(backend, dtype)
        assert (session.used, session.fallbacks, told) == ("torch", (), [])

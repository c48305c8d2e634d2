"""A fixture that installs stand-ins for the kernels of attention and of its gradients."""

import pytest

from mezzotint.attention import backward, operation
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.dispatch.self_test import SelfTest

PASSED = SelfTest(passed=("a case",), unsupported=(), problem=None)


@pytest.fixture
def install_backward(monkeypatch):
    """Install a library for the backward pass, whose self-test has the given outcome, and one for the declared op."""

    def install(library, outcome=PASSED, forward=None):
        backend = KernelBackend(
            open_kernels=lambda: CompiledBackward(library),
            test=lambda *_: outcome,
            wrong_device=lambda _: None,
            wrong_dtype=lambda dtype: None if dtype != "float32" else "the dtype is float32",
        )
        monkeypatch.setattr(backward, "backward_backend", lambda: backend)
        if forward is not None:
            monkeypatch.setattr(operation, "_installed", lambda: CompiledAttention(forward))
        return library

    return install

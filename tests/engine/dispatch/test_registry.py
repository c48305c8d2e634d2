"""Kernels in the registry: opened at need, tested once for a device and a format, missing with a reason."""

import pytest

from mezzotint.dispatch.library import Unavailable
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.dispatch.self_test import SelfTest

SOUND = SelfTest(passed=("a layer",), unsupported=(), problem=None)
WRONG = SelfTest(passed=(), unsupported=(), problem="it is off")
NONE = SelfTest(passed=(), unsupported=("a layer",), problem="no kernel", has_no_kernels=True)


class Opened:
    """A backend for the processor in 16 bits, and what was done to its kernels."""

    def __init__(self, found=SOUND, error=None):
        self.opened, self.tested, self._found, self._error = 0, [], found, error
        self.backend = KernelBackend(
            open_kernels=self._open,
            test=self._test,
            wrong_device=lambda device: None if device == "cpu" else f"not on {device}",
            wrong_dtype=lambda dtype: None if dtype == "float16" else f"not in {dtype}",
        )

    def _open(self):
        self.opened += 1
        if self._error is not None:
            raise self._error
        return "kernels"

    def _test(self, kernels, device, dtype):
        self.tested.append((kernels, str(device), str(dtype)))
        return self._found


def test_what_is_missing_is_said_and_nothing_opened_in_vain():
    made, broken = Opened(), Opened(error=Unavailable("no driver"))
    assert made.backend.missing("mps", "float32") == "not on mps" and made.opened == 0
    assert made.backend.missing("cpu", "float32") == "not in float32"
    assert made.backend.missing("cpu", "float16") is None
    assert (made.opened, made.tested) == (1, [])
    assert broken.backend.missing("cpu", "float32") == "no driver"


def test_each_device_and_format_is_tested_once():
    made = Opened()
    for dtype in ("float16", "bfloat16", "float16"):
        assert made.backend.self_test("cpu", dtype) is SOUND
    assert made.tested == [("kernels", "cpu", f"torch.{dtype}") for dtype in ("float16", "bfloat16")]
    assert made.opened == 1


@pytest.mark.parametrize(
    ("found", "expected"), [(SOUND, ("kernels", None)), (WRONG, ("kernels", "it is off")), (NONE, (None, "no kernel"))]
)
def test_kernels_come_with_what_is_wrong_with_them(found, expected):
    made = Opened(found)
    assert made.backend.usable("cpu", "float16") == expected
    assert made.backend.usable("mps", "float16") == (None, None)
    assert len(made.tested) == 1

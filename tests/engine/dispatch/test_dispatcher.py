"""An operation in a job: by kernels while they can, by torch for counted and told reasons."""

import pytest
import torch

from mezzotint.dispatch.dispatcher import Dispatcher, FallbackLog
from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported
from mezzotint.protocol import KernelFallback

X = torch.ones(2)


def dispatcher(kernels, log, device_type="cpu", **more):
    return Dispatcher(
        name="ours",
        plain="torch",
        kernels=kernels,
        device_type=device_type,
        log=log,
        given_up="ours is given up",
        incomplete="ours cannot do all",
        **more,
    )


def refusing(error):
    def kernels(x, factor):
        raise error

    return kernels


@pytest.fixture
def notices():
    return []


@pytest.fixture
def log(notices):
    return FallbackLog("fell_back", lambda *told: notices.append(told))


def test_kernels_do_it_and_are_counted(log, notices):
    used = dispatcher(torch.mul, log)
    assert (used.used, used.ran) == ("ours", "torch")
    assert used.run(X, 3).equal(3 * X)
    assert (used.used, used.ran, used.calls) == ("ours", "ours", 1)
    assert (log.fallbacks, notices) == ((), [])


@pytest.mark.parametrize(("kernels", "device_type"), [(None, "cpu"), (torch.mul, "cuda")])
def test_torch_does_what_is_not_theirs_without_a_word(kernels, device_type, log, notices):
    used = dispatcher(kernels, log, device_type)
    assert used.run(X, 3) is None
    assert (used.calls, log.fallbacks, notices) == (0, (), [])


def test_what_is_unsupported_is_told_once_by_all_who_share_the_log(log, notices):
    first, second = (dispatcher(refusing(Unsupported(why)), log) for why in ("too wide", "too deep"))
    for used in (first, first, second):
        assert used.run(X, 3) is None and used.used == "ours"
    assert log.fallbacks == (KernelFallback(reason="too wide", calls=2), KernelFallback(reason="too deep", calls=1))
    assert notices == [("fell_back", "ours cannot do all: too wide")]


def test_formats_that_fall_back_untold_are_counted(log, notices):
    assert dispatcher(refusing(Unsupported("32 bits")), log, silent_dtype=torch.float32).run(X, 3) is None
    assert (log.fallbacks, notices) == ((KernelFallback(reason="32 bits", calls=1),), [])


@pytest.mark.parametrize("error", [LaunchFailed("it broke"), Unavailable("it broke")])
def test_after_a_failure_they_are_given_up(error, log, notices):
    used = dispatcher(refusing(error), log)
    assert used.run(X, 3) is None and used.run(X, 3) is None
    assert (used.used, used.ran) == ("torch", "torch")
    assert log.fallbacks == (KernelFallback(reason="it broke", calls=1),)
    assert notices == [("fell_back", "ours is given up: it broke")]


def test_what_is_given_up_between_calls_costs_none(log, notices):
    used = dispatcher(torch.mul, log)
    used.run(X, 3)
    used.give_up("not-a-number")
    assert (used.ran, used.calls, log.fallbacks) == ("torch", 1, (KernelFallback(reason="not-a-number", calls=0),))


def test_bugs_are_raised(log):
    with pytest.raises(ValueError, match="a bug"):
        dispatcher(refusing(ValueError("a bug")), log).run(X, 3)

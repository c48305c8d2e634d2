"""Signals of the system come as Qt's, and mean what they meant before once that is over."""

import signal

import pytest

from mezzotint_app.shutdown_signals import ShutdownSignals

pytestmark = [
    pytest.mark.requires_package("PySide6"),
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are others there"),
]


@pytest.fixture
def one():
    """A signal that nobody else uses, with whatever it meant before put back."""
    number = signal.SIGUSR1
    before = signal.signal(number, signal.SIG_DFL)
    yield number
    signal.signal(number, before)


def test_a_signal_is_told_in_the_window_s_loop(qtbot, one):
    shutdown = ShutdownSignals(signals=[one])
    with qtbot.waitSignal(shutdown.received):
        signal.raise_signal(one)
    shutdown.release()
    assert signal.getsignal(one) == signal.SIG_DFL
    assert signal.set_wakeup_fd(-1) == -1


def test_after_the_first_a_second_ends_the_process(qtbot, one):
    signal.signal(one, lambda *_: None)
    shutdown = ShutdownSignals(signals=[one])
    with qtbot.waitSignal(shutdown.received):
        signal.raise_signal(one)
    assert signal.getsignal(one) == signal.SIG_DFL
    shutdown.release()
    assert signal.getsignal(one) != signal.SIG_DFL


def test_what_is_ignored_stays_so(qtbot, one):
    signal.signal(one, signal.SIG_IGN)
    shutdown = ShutdownSignals(signals=[one])
    told = []
    shutdown.received.connect(lambda: told.append(1))
    signal.raise_signal(one)
    qtbot.wait(1)
    assert signal.getsignal(one) == signal.SIG_IGN and not told
    shutdown.release()
    shutdown.release()
    assert signal.getsignal(one) == signal.SIG_IGN
    assert signal.set_wakeup_fd(-1) == -1

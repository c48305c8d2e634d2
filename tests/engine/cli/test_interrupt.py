"""Ctrl-C: before work at once, during work after the step, twice at once."""

import signal

from mezzotint.cli.interrupt import Interrupt


class Ears:
    def __init__(self):
        self.told = []
        self.ended = []
        self.interrupt = Interrupt(self.told.append, self.ended.append)

    def press(self):
        self.interrupt.handle(signal.SIGINT, None)


def test_before_there_is_work_it_ends_at_once():
    ears = Ears()
    ears.press()
    assert ears.ended == [130]
    assert not ears.interrupt.stop_requested()


def test_during_work_the_first_asks_and_the_second_ends():
    ears = Ears()
    ears.interrupt.enable_graceful_stop()
    ears.press()
    assert ears.interrupt.stop_requested()
    assert ears.ended == []
    assert "again to stop now" in ears.told[0]
    ears.press()
    assert ears.ended == [130]


def test_it_is_what_the_signal_does_for_a_while():
    ears = Ears()
    before = signal.getsignal(signal.SIGINT)
    with ears.interrupt.installed():
        signal.raise_signal(signal.SIGINT)
    assert ears.ended == [130]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_code_tells_which_signal_asked_and_last_words_are_said():
    ears = Ears()
    ears.interrupt.before_exit = lambda: ears.told.append("last words")
    ears.interrupt.unit_of_work = "this image"
    ears.interrupt.enable_graceful_stop()
    ears.interrupt.handle(signal.SIGTERM, None)
    assert ears.interrupt.exit_code == 128 + signal.SIGTERM
    assert "stopping after this image" in ears.told[0]
    ears.press()
    assert (ears.told[-1], ears.ended) == ("last words", [130])


def test_ended_at_once_the_code_tells_the_signal_too():
    ears = Ears()
    ears.interrupt.handle(signal.SIGTERM, None)
    ears.interrupt.enable_graceful_stop()
    ears.press()
    ears.interrupt.handle(signal.SIGTERM, None)
    assert ears.ended == [128 + signal.SIGTERM] * 2


def test_asked_by_the_program_itself_it_never_ends_at_once():
    ended = []
    interrupt = Interrupt(tell=lambda _: None, end=ended.append)
    interrupt.request_stop()
    assert not interrupt.stop_requested()
    interrupt.enable_graceful_stop()
    interrupt.request_stop()
    interrupt.request_stop()
    assert (interrupt.stop_requested(), ended) == (True, [])

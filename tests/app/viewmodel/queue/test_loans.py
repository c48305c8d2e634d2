"""The queue's lease goes to one borrower after another."""

import pytest
from PySide6.QtCore import QObject, Signal

from mezzotint_app.viewmodel.queue.loans import Borrower, Loans


class Lender(QObject):
    started = Signal(object)
    changed = Signal()
    state = "idle"

    def __init__(self):
        super().__init__()
        self.lent, self.taken_back = [], 0

    def held_by(self):
        return "another program"

    def lend(self, then, who="", because=""):
        self.lent.append((then, who, because))

    def take_back(self):
        self.taken_back += 1


@pytest.fixture
def lender():
    return Lender()


@pytest.fixture
def borrowers(lender):
    loans = Loans(lender)
    return [Borrower(loans, who, f"{who} was started") for who in ("a batch", "a training")]


def test_the_second_one_waits_for_the_first(lender, borrowers):
    came, (batch, training) = [], borrowers
    batch.lend(lambda: came.append("batch"))
    training.lend(lambda: came.append("training"))
    assert [one[1:] for one in lender.lent] == [("a batch", "a batch was started")]
    lender.lent[0][0]()
    batch.take_back()
    assert lender.taken_back == 1 and len(lender.lent) == 2
    lender.lent[1][0]()
    training.take_back()
    assert came == ["batch", "training"] and lender.taken_back == 2


def test_one_that_no_longer_waits_is_passed_over(lender, borrowers):
    came, (batch, training) = [], borrowers
    batch.lend(lambda: came.append("batch"))
    training.lend(lambda: came.append("training"))
    training.take_back()
    training.take_back()
    assert lender.taken_back == 0
    batch.take_back()
    lender.lent[0][0]()  # too late
    assert came == [] and len(lender.lent) == 1 and lender.taken_back == 1


def test_the_queue_is_seen_through_it(lender, borrowers):
    seen = []
    borrowers[0].started.connect(seen.append)
    borrowers[0].changed.connect(lambda: seen.append("changed"))
    lender.started.emit("a task")
    lender.changed.emit()
    assert seen == ["a task", "changed"] and borrowers[0].state == "idle"
    assert borrowers[0].held_by() == "another program"

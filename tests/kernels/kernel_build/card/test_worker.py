"""The process of a part, here without a card."""

import io
import os

import pytest

from kernel_build.card import worker
from kernel_build.card.protocol import AGAIN, Row, told
from kernel_build.card.worker import CardTeller, main


@pytest.fixture
def done(monkeypatch):
    def say(words):
        monkeypatch.setattr("sys.stdin", io.StringIO(words))

    return say


def rows(capsys):
    found = [told(line) for line in capsys.readouterr().out.splitlines()]
    return [each for each in found if isinstance(each, Row)]


def test_calls_of_every_kernel_are_checked_but_for_those_that_are_done(done, capsys):
    done("[]")
    assert main(["small_set", "--stub"]) == 0
    first = rows(capsys)
    assert len(first) == 38 and {row.outcome for row in first} == {"ok"}
    assert all(0 < row.measured["error"] < 0.05 for row in first)
    done('["attention, masks"]')
    assert main(["small_set", "--stub"]) == 0
    assert {row.item for row in first} - {row.item for row in rows(capsys)} == {"attention, masks"}


@pytest.mark.parametrize(("lost", "left"), [(True, [AGAIN]), (False, [])])
def test_a_card_that_is_lost_is_left(monkeypatch, lost, left):
    ended = []
    monkeypatch.setattr(worker, "card_is_lost", lambda: lost)
    monkeypatch.setattr(os, "_exit", ended.append)
    teller = CardTeller((), io.StringIO())
    teller.row(Row(item="one"))
    assert ended == []
    teller.row(Row(item="two", outcome="failed", problem="CUDA error: an illegal memory access"))
    assert ended == left


def test_without_a_card_none_is_lost():
    assert not worker.card_is_lost()

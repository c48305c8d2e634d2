"""A long list read by pages: what a view sees, beside the plain list that it stands for."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_checked import checked
from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex

from mezzotint_app.viewmodel import paged_model
from mezzotint_app.viewmodel.paged_model import PAGE, PagedModel


@dataclass(frozen=True)
class Thing:
    id: int
    value: int = 0


class Keeper:
    """The whole list, and the questions about it; it answers with what is there then, when it is told to."""

    def __init__(self, things):
        self.things = list(things)
        self.asked = []
        self.pages = []

    def ask(self, offset, limit, told, refused):
        self.pages.append(offset // limit)
        self.asked.append((offset, limit, told, refused))

    def answer(self, at=0):
        offset, limit, told, _ = self.asked.pop(at)
        told(len(self.things), self.things[offset : offset + limit])

    def refuse(self):
        self.asked.pop(0)[3]("no answer")


class Model(PagedModel[Thing]):
    def data(self, index, role=0):
        return str(self.item(index.row())) if role == 0 and index.isValid() else None


def made(count):
    keeper = Keeper(Thing(number) for number in range(count))
    model = Model(keeper.ask, lambda thing: thing.id)
    return keeper, model


def turn():
    QCoreApplication.processEvents()


def settle(keeper):
    turn()
    for _ in range(200):
        if not keeper.asked:
            return
        keeper.answer()
        turn()
    raise AssertionError("it never stops asking")


@pytest.fixture(autouse=True)
def _application(qapp):
    return qapp


def shown(model):
    return [model.peek(row) for row in model.shown_rows()]


def test_nothing_is_asked_within_a_read_and_a_placeholder_stands_meanwhile():
    keeper, model = made(10)
    model.refresh()
    assert keeper.asked == []
    settle(keeper)
    assert model.rowCount() == 10
    assert model.item(3) == Thing(3)
    assert model.peek(99) is None


def test_a_long_list_costs_the_pages_that_are_looked_at():
    keeper, model = made(50_000)
    model.show_rows(0, 30)
    settle(keeper)
    for first in range(0, 49_000, 700):  # a fast scroll: nobody waits anywhere
        model.show_rows(first, first + 30)
        for row in range(first, first + 31):
            model.item(row)
    model.show_rows(49_900, 49_930)
    settle(keeper)
    assert shown(model) == keeper.things[49_900:49_931]
    assert len(keeper.pages) <= 12
    assert len(model._rows.known()) <= paged_model.MAX_ROWS


def test_rows_are_forgotten_far_from_sight_and_asked_again_there():
    keeper, model = made(30_000)
    for first in range(0, 30_000, PAGE):
        model.show_rows(first, first + 20)
        settle(keeper)
    assert len(model._rows.known()) <= paged_model.MAX_ROWS
    assert model.peek(5) is None
    model.show_rows(0, 20)
    settle(keeper)
    assert shown(model) == keeper.things[:21]


def test_answers_to_another_question_are_dropped():
    keeper, model = made(10)
    model.refresh()
    turn()
    (late,) = keeper.asked
    keeper.asked.clear()
    keeper.things = [Thing(77)]
    model.restart()
    late[2](1, [Thing(5)])
    assert model.rowCount() == 0
    settle(keeper)
    assert shown(model) == [Thing(77)]


def test_an_answer_from_before_a_change_made_here_is_not_shown():
    keeper, model = made(3)
    model.show_rows(0, 9)
    settle(keeper)
    model.refresh()
    turn()
    (late,) = keeper.asked
    keeper.asked.clear()
    model.remove_optimistically([1])
    late[2](3, [Thing(0), Thing(1), Thing(2)])
    assert [model.peek(row) for row in range(model.rowCount())] == [Thing(0), Thing(2)]
    del keeper.things[1]
    settle(keeper)
    assert shown(model) == [Thing(0), Thing(2)]


def test_a_page_that_is_refused_is_told_once_and_asked_again_on_refresh(qtbot):
    keeper, model = made(3)
    told = []
    model.failed.connect(told.append)
    model.refresh()
    turn()
    keeper.refuse()
    model.show_rows(0, 2)
    turn()
    assert told == ["no answer"]
    assert keeper.asked == []
    model.refresh()
    settle(keeper)
    assert shown(model) == keeper.things


def test_things_are_gathered_from_pages_that_are_not_here():
    keeper, model = made(1000)
    model.refresh()
    settle(keeper)
    found = []
    model.gather([1, 450, 999, 5000], found.append)
    while keeper.asked:
        keeper.answer()
    assert found == [[Thing(1), Thing(450), Thing(999)]]


def test_a_refresh_tells_of_nothing_where_nothing_has_changed():
    keeper, model = made(300)
    model.show_rows(0, 299)
    settle(keeper)
    changes = []
    model.dataChanged.connect(lambda first, last: changes.append((first.row(), last.row())))
    model.layoutChanged.connect(lambda: changes.append("layout"))
    model.refresh()
    settle(keeper)
    assert changes == []
    keeper.things[7] = Thing(7, 1)
    model.refresh()
    settle(keeper)
    assert changes == [(7, 7)]


edits = st.lists(
    st.tuples(st.sampled_from(["insert", "remove", "move", "change", "look", "answer", "refresh", "local"]),
              st.integers(0, 10_000), st.integers(0, 10_000)),
    max_size=14,
)  # fmt: skip


@given(st.integers(0, 700), edits)
def test_after_any_changes_what_is_in_sight_is_as_in_the_list(qapp, count, changes):
    keeper, model = made(count)
    with checked(model):
        model.show_rows(0, 20)
        settle(keeper)
        fresh = iter(range(100_000, 200_000))
        for what, a, b in changes:
            edit(keeper, model, what, a, b, fresh)
            if what in ("insert", "remove", "move", "change"):
                model.refresh()  # as whoever changes the list tells
        settle(keeper)
    assert model.rowCount() == len(keeper.things)
    rows = model.shown_rows()
    assert shown(model) == keeper.things[rows.start : rows.stop]


def edit(keeper, model, what, a, b, fresh):
    at = a % max(1, len(keeper.things))
    match what:
        case "look":
            model.show_rows(at, at + b % 60)
            for row in range(at, min(at + b % 60, model.rowCount())):
                model.item(row)
        case "answer":
            turn()
            if keeper.asked:
                keeper.answer(b % len(keeper.asked))
        case "refresh":
            model.refresh()
        case "insert":
            keeper.things.insert(at, Thing(next(fresh)))
        case _ if keeper.things:
            edit_one(keeper.things, model, what, at, b)


def edit_one(things, model, what, at, b):
    match what:
        case "remove":
            del things[at]
        case "move":
            things.insert(b % len(things), things.pop(at))
        case "change":
            things[at] = Thing(things[at].id, b)
        case "local" if model.peek(at) in things:
            thing = model.peek(at)
            things.remove(thing)
            model.remove_optimistically([thing.id])


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1, max_size=8), st.integers(0, 60))
def test_several_rows_move_as_in_a_plain_list_and_persistent_places_follow(qapp, count, chosen, before):
    keeper, model = made(count)
    model.show_rows(0, count)
    settle(keeper)
    rows, before = sorted(row for row in chosen if row < count), min(before, count)
    places = {thing.id: QPersistentModelIndex(model.index(row)) for row, thing in enumerate(keeper.things)}
    moving = [keeper.things[row] for row in rows]
    ahead = [thing for thing in keeper.things[:before] if thing not in moving]
    wanted = ahead + moving + [thing for thing in keeper.things[before:] if thing not in moving]
    with checked(model):
        model.move_optimistically(rows, before)
    assert [model.peek(row) for row in range(count)] == wanted
    assert all(model.peek(place.row()).id == key for key, place in places.items())
    keeper.things = wanted
    settle(keeper)
    assert shown(model) == wanted


@given(st.integers(2, 40), st.data())
def test_selected_places_follow_their_things_through_a_refresh(qapp, count, data):
    keeper, model = made(count)
    model.show_rows(0, count)
    settle(keeper)
    places = {thing.id: QPersistentModelIndex(model.index(row)) for row, thing in enumerate(keeper.things)}
    keeper.things = data.draw(st.permutations(keeper.things))
    gone = data.draw(st.integers(0, count - 1))
    keeper.things = keeper.things[: count - gone]
    model.refresh()
    settle(keeper)
    for key, place in places.items():
        if place.isValid():
            assert model.peek(place.row()).id == key or key not in [thing.id for thing in keeper.things]
    assert model.index(0) != QModelIndex()


def test_very_many_that_lie_apart_go_some_at_once_and_the_others_with_the_answer():
    keeper, model = made(200)
    model.show_rows(0, 20)
    settle(keeper)
    gone = list(range(0, 200, 2))
    taken = []
    model.rowsRemoved.connect(lambda _parent, first, last: taken.append(last - first + 1))
    with checked(model):
        keeper.things = [thing for thing in keeper.things if thing.id not in gone]
        model.remove_optimistically(gone)
        assert sum(taken) == paged_model.MAX_RUNS
        settle(keeper)
    assert model.rowCount() == 100
    assert shown(model) == keeper.things[:21]


def test_rows_that_follow_each_other_go_together():
    keeper, model = made(300)
    model.show_rows(0, 20)
    settle(keeper)
    taken = []
    model.rowsRemoved.connect(lambda _parent, first, last: taken.append((first, last)))
    model.remove_optimistically([5, 6, 7, 30])
    assert taken == [(30, 30), (5, 7)]

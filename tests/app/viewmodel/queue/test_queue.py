"""The queue's list, on a real store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_checked import checked
from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QModelIndex, Qt
from queue_made import OWNER, finish, image, queue_in, request

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import Step
from mezzotint_app.viewmodel.paged_model import PAGE
from mezzotint_app.viewmodel.queue.queue import MIME, RowRole, ViewRole


@pytest.fixture
def made(tmp_path, qapp):
    one = queue_in(tmp_path)
    yield one
    one.access.close()


def add(made, count):
    return made.change(lambda store: [store.add([request(f"number {number}")]) for number in range(count)])


def turn():
    for _ in range(6):
        QCoreApplication.processEvents()


def shown(model):
    return [row.id if (row := model.peek(at)) else None for at in range(model.rowCount())]


def look(made, last=100):
    made.queue.model.show_rows(0, last)
    turn()
    return made.queue.model


def test_entries_are_listed_in_their_order_and_what_is_done_is_not(made):
    ids = add(made, 3)
    made.change(finish)
    model = look(made)
    assert shown(model) == ids[1:]
    model.show("finished")
    turn()
    assert shown(model) == ids[:1]
    model.show("all")
    turn()
    assert shown(model) == ids


def test_a_change_of_another_program_is_seen(made, tmp_path):
    add(made, 1)
    model = look(made)
    with JobStore.open(tmp_path / "queue.sqlite").store as other:
        new = other.add([request("from elsewhere")])
    made.queue.watch.look()
    turn()
    assert shown(model)[-1] == new


def test_a_change_refreshes_only_what_changed(made):
    ids = add(made, 5)
    model = look(made)
    changes = []
    model.dataChanged.connect(lambda first, last: changes.extend(range(first.row(), last.row() + 1)))
    with checked(model):
        made.change(lambda store: store.cancel([]))
        turn()
        task = made.change(lambda store: store.claim(OWNER))
        turn()
    assert task.entry == ids[0]
    assert set(changes) == {0}


def test_ten_thousand_entries_cost_the_pages_in_sight(made):
    made.store.add([request()])
    with made.store._database.writing():
        made.store._database.connection.execute(
            "WITH RECURSIVE n(x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n WHERE x < 10000) "
            "INSERT INTO entries (position, title, kind, model, created, waiting, tasks, pictures_asked) "
            "SELECT x, 'number ' || x, 'generate', 'm', 0, 1, 1, 1 FROM n"
        )
    asked = []
    rows = made.store.rows
    made.store.rows = lambda **options: asked.append(options["offset"]) or rows(**options)
    made.queue.watch.look()
    model = look(made, 20)
    assert model.rowCount() == 10_000
    assert asked == [0]
    for first in range(0, 9900, 300):
        model.show_rows(first, first + 20)
        model.item(first)
    model.show_rows(9980, 9999)
    turn()
    assert model.peek(9999).title == "number 10000"
    assert len(asked) <= 8
    assert all(offset % PAGE == 0 for offset in asked)


def test_the_running_one_shows_how_far_it_is(made):
    ids = made.change(lambda store: [store.add([request("a", 4)]), store.add([request("b")])])
    model = look(made)
    task = made.change(lambda store: store.claim(OWNER))
    made.runner.begin(task)
    step = Step(image=0, images=4, stage=0, stages=1, step=5, steps=10, sigma=1.0, preview=None)
    changed = []
    model.dataChanged.connect(lambda first, last: changes_of(changed, first, last))
    made.runner.progressed.emit(task, step)
    view = model.index(0).data(ViewRole)
    assert (view.id, view.state, view.note) == (ids[0], "running", "Image 1 of 4: step 5 of 10")
    assert view.fraction == pytest.approx(0.5 / 4)
    assert changed == [0]
    made.change(lambda store: store.saved(task.id, image(task)))
    made.change(lambda store: store.fail(task.id, "out_of_memory", "no memory"))
    made.runner.end()
    turn()
    view = model.index(0).data(ViewRole)
    assert (view.state, view.note, view.trouble) == ("failed", "no memory", True)


def changes_of(changed, first, last):
    changed.extend(range(first.row(), last.row() + 1))


def test_how_long_waiting_entries_take_is_asked_for_those_in_sight(made):
    add(made, 30)
    made.change(finish)
    model = look(made, 9)
    views = [model.index(row).data(ViewRole) for row in range(29)]
    assert all("takes about" in view.about for view in views[:10])
    assert not any("takes about" in view.about for view in views[10:])


def test_the_first_image_is_shown(made):
    made.change(lambda store: store.add([request("a", 2)]))
    task = made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.saved(task.id, image(task)))
    look(made)
    assert [one.params.path for one in made.librarian.open("thumbnail")] == [image(task).path]


def test_selection_is_of_entries_and_not_of_places(made):
    ids = add(made, 6)
    model = look(made)
    selection = QItemSelectionModel(model)
    for row in (1, 4):
        selection.select(model.index(row), QItemSelectionModel.SelectionFlag.Select)
    made.change(lambda store: store.move([ids[5]], ids[0]))
    turn()
    made.change(lambda store: store.remove([ids[0]]))
    turn()
    made.change(lambda store: store.add([request("new")], front=True))
    turn()
    chosen = [model.peek(index.row()).id for index in selection.selectedIndexes()]
    assert sorted(chosen) == [ids[1], ids[4]]
    assert shown(model) == made.ids()


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sets(st.integers(0, 11), min_size=1, max_size=4), st.integers(0, 12)), max_size=5),
)
def test_dragging_orders_as_in_a_plain_list(qapp, tmp_path_factory, count, drags):
    made = queue_in(tmp_path_factory.mktemp("q"))
    plain = add(made, count)
    model = look(made)
    with checked(model):
        for chosen, before in drags:
            rows = sorted(row for row in chosen if row < count)
            before = min(before, count)
            data = model.mimeData([model.index(row) for row in rows])
            model.dropMimeData(data, Qt.DropAction.MoveAction, before, 0, QModelIndex())
            moving = [plain[row] for row in rows]
            ahead = [entry for entry in plain[:before] if entry not in moving]
            plain = ahead + moving + [entry for entry in plain[before:] if entry not in moving]
            assert shown(model) == plain
            assert made.ids() == plain
            turn()
            assert shown(model) == plain
    made.access.close()


@given(st.integers(1, 8), st.sets(st.integers(0, 7), min_size=1), st.lists(st.booleans(), max_size=9))
def test_keys_move_a_step_and_stop_at_the_ends(qapp, tmp_path_factory, count, chosen, downs):
    made = queue_in(tmp_path_factory.mktemp("q"))
    plain = add(made, count)
    model = look(made)
    moving = [plain[row] for row in sorted(chosen) if row < count]
    for down in downs:
        rows = [plain.index(entry) for entry in moving]
        (model.move_down if down else model.move_up)(rows)
        turn()
        rest = [entry for entry in plain if entry not in moving]
        if rows and not down and rows[0] > 0:
            at = rest.index(next(e for e in plain[rows[0] - 1 :] if e not in moving))
            plain = rest[:at] + moving + rest[at:]
        elif rows and down and rows[-1] < count - 1:
            at = rest.index(plain[rows[-1] + 1]) + 1
            plain = rest[:at] + moving + rest[at:]
        assert shown(model) == plain
        assert made.ids() == plain
    made.access.close()


def test_what_is_dragged_is_followed_while_the_queue_changes(made):
    ids = add(made, 5)
    model = look(made)
    data = model.mimeData([model.index(3)])
    assert data.formats() == [MIME]
    made.change(lambda store: store.remove([ids[0]]))
    turn()
    model.dropMimeData(data, Qt.DropAction.MoveAction, 0, 0, QModelIndex())
    assert made.ids() == [ids[3], ids[1], ids[2], ids[4]]


def test_nothing_is_dropped_onto_an_entry_or_from_elsewhere(made):
    add(made, 3)
    model = look(made)
    data = model.mimeData([model.index(0)])
    assert not model.canDropMimeData(data, Qt.DropAction.MoveAction, -1, -1, model.index(1))
    data.clear()
    data.setText("a file")
    assert not model.canDropMimeData(data, Qt.DropAction.MoveAction, 0, 0, QModelIndex())
    assert not model.flags(model.index(1)) & Qt.ItemFlag.ItemIsDropEnabled


def test_an_order_that_was_refused_is_told_and_taken_back(made, qtbot):
    ids = add(made, 3)
    model = look(made)
    with JobStore.open(made.store._database.path).store as other:
        other.remove([ids[0]])
    with qtbot.waitSignal(model.failed) as told:
        model.move_rows([2], 0)
    assert "The order was not changed" in told.args[0]
    made.queue.watch.look()
    turn()
    assert shown(model) == ids[1:]


def test_rows_are_spoken(made):
    add(made, 1)
    model = look(made)
    assert model.index(0).data() == "Waiting: number 0. 0 of 1 image, m"
    assert model.index(0).data(RowRole).title == "number 0"


def test_expected_times_are_asked_once_at_a_time_and_at_last_of_what_is_in_sight(made, monkeypatch):
    add(made, 60)
    model = look(made, 5)
    asked = []
    monkeypatch.setattr(JobStore, "expected_entry", lambda _store, entry: asked.append(entry) or 7.0)
    model._times.clear()
    made.inline.held = True
    for first in range(0, 50, 5):
        model.show_rows(first, first + 4)
    assert len(made.inline.waiting) == 1
    made.inline.go()
    ids = made.ids()
    assert asked == ids[:5] + ids[45:50]
    assert "7 s" in model.index(46).data(ViewRole).about
    assert "7 s" not in model.index(20).data(ViewRole).about

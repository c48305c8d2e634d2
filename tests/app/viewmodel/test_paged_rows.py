"""Rows that are partly known, beside a plain list."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.paged_rows import PagedRows, runs

unique = st.lists(st.integers(0, 60), unique=True, max_size=30)


def rows_of(items):
    rows = PagedRows(lambda item: item, 1000)
    rows.insert(0, len(items))
    rows.take(0, items)
    return rows


def as_list(rows):
    return [rows.get(row) for row in range(rows.total)]


@given(unique, st.data())
def test_rows_come_go_and_move_as_in_a_list(items, data):
    rows, plain = rows_of(items), list(items)
    for _ in range(data.draw(st.integers(0, 6))):
        what = data.draw(st.sampled_from(["insert", "remove", "move"]))
        if what == "insert":
            at, count = data.draw(st.integers(0, len(plain))), data.draw(st.integers(1, 3))
            rows.insert(at, count)
            plain[at:at] = [None] * count
        elif plain:
            at = data.draw(st.integers(0, len(plain) - 1))
            if what == "remove":
                rows.remove(at, 1)
                del plain[at]
            else:
                moving = sorted({at, *data.draw(st.lists(st.integers(0, len(plain) - 1), max_size=4))})
                before = data.draw(st.integers(0, len(plain)))
                to, old = rows.move(moving, before), plain
                ahead = [row for row in range(before) if row not in moving]
                order = ahead + moving + [row for row in range(before, len(old)) if row not in moving]
                plain = [old[row] for row in order]
                assert [to(row) for row in order] == list(range(len(old)))
        assert as_list(rows) == plain
        assert rows.total == len(plain)


@given(st.sets(st.integers(0, 30)))
def test_runs_are_the_rows_in_as_few_pieces_as_can_be(rows):
    found = runs(rows)
    assert [row for first, count in found for row in range(first, first + count)] == sorted(rows)
    assert all(first + count < following for (first, count), (following, _) in itertools.pairwise(found))


@given(unique, unique, st.integers(0, 20))
def test_a_page_is_there_as_it_came_and_nothing_stands_twice(items, page, first):
    rows = rows_of(items)
    rows.total = max(rows.total, first + len(page))
    before = as_list(rows)
    taken = rows.take(first, page)
    now = as_list(rows)
    assert now[first : first + len(page)] == page
    known = [item for item in now if item is not None]
    assert len(known) == len(set(known))
    changed = [row for row, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
    assert all(taken.first <= row <= taken.last for row in changed)
    if not taken.moved:
        assert all(old in (None, new) for old, new in zip(before, now, strict=True))


@given(st.integers(1, 40), st.integers(1, 10), st.integers(0, 39))
def test_what_is_far_is_forgotten_first_and_what_is_in_sight_never(count, most, at):
    rows = PagedRows(lambda item: item, most)
    rows.insert(0, count)
    rows.take(0, list(range(count)))
    first = min(at, count - 1)
    last = min(count - 1, first + 3)
    rows.forget_far(first, last)
    known = rows.known()
    assert set(range(first, last + 1)) <= set(known)
    assert len(known) <= max(most, last - first + 1)
    kept = [max(first - row, row - last, 0) for row in known]
    gone = [max(first - row, row - last, 0) for row in range(count) if row not in known]
    assert not gone or max(kept) <= min(gone)

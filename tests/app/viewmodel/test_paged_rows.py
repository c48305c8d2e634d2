"""Rows that are partly known, beside a plain list."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.paged_rows import PagedRows

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
                to = data.draw(st.integers(0, len(plain) - 1))
                rows.move(at, to)
                plain.insert(to, plain.pop(at))
        assert as_list(rows) == plain
        assert rows.total == len(plain)


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

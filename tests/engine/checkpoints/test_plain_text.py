import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.checkpoints.plain_text import plain, size, size_at_least, size_of


@given(text=st.text(), limit=st.integers(10, 200))
def test_any_text_becomes_one_short_line(text, limit):
    shown = plain(text, limit)
    assert shown.isprintable() or not shown
    shown.encode("utf-8")
    assert len(shown) <= 10 * limit


@given(text=st.text(st.characters(exclude_categories=("C", "Z")), max_size=120).filter(str.isprintable))
def test_proper_text_stays_as_it_is(text):
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("a\u202eb", "a\\u202eb"),
        ("\udcff", "\\udcff"),
        ("x" * 20, "xxxxxxx..."),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_what_would_move_the_cursor_is_spelled_out(text, shown):
    assert plain(text, 10) == shown


@given(st.integers(0, 2**45))
@example(10_000 * 2**30 + 1)
def test_what_is_told_as_enough_is_enough(count):
    number, unit = size_at_least(count).split()
    scale = {"bytes": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}[unit]
    assert count <= float(number) * scale <= count + scale // 100 + 1


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 kB"), (2**30 * 69 // 10, "6.9 GB")]
)
def test_sizes_in_the_largest_unit(count, shown):
    assert size(count) == shown


@pytest.mark.parametrize(
    ("done", "total", "shown"),
    [
        (31 * 2**30 // 10, 69 * 2**30 // 10, "3.1 of 6.9 GB"),
        (2**30 - 1, 2**30, "1073741823 of 1073741824 bytes"),
        (0, 5, "0 of 5 bytes"),
    ],
)
def test_two_sizes_in_one_unit(done, total, shown):
    assert size_of(done, total) == shown


@given(total=st.integers(1, 2**50), part=st.floats(0, 1, exclude_max=True))
def test_less_than_the_whole_never_looks_like_the_whole(total, part):
    first, _, rest = size_of(min(int(total * part), total - 1), total).partition(" of ")
    assert first != rest.split()[0]

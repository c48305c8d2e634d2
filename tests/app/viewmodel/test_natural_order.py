"""Names stand as people count."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.natural_order import natural


@given(st.lists(st.integers(0, 10**30), min_size=2, max_size=20))
def test_numbers_in_names_are_numbers(numbers):
    names = [f"Image {number}.png" for number in numbers]
    assert sorted(names, key=natural) == [f"Image {number}.png" for number in sorted(numbers)]


@given(st.lists(st.text(max_size=30), max_size=20))
def test_any_names_can_be_sorted(names):
    assert sorted(sorted(names, key=natural)) == sorted(names)


def test_case_does_not_count():
    assert sorted(["b2", "A10", "a9", "B1"], key=natural) == ["a9", "A10", "B1", "b2"]

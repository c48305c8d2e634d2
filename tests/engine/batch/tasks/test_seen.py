from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.tasks.seen import Seen


@given(st.lists(st.text(max_size=3)))
def test_a_set_of_texts(texts):
    seen, known = Seen(), set()
    for text in texts:
        assert seen.add(text) == (text not in known)
        known.add(text)


def test_many_are_told_apart():
    seen = Seen()
    assert all(seen.add(f"folder/image {number}") for number in range(20_000))
    assert not any(seen.add(f"folder/image {number}") for number in range(20_000))

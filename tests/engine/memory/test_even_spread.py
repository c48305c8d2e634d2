"""Which blocks stay."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.even_spread import spread


@given(st.integers(0, 60), st.data())
def test_blocks_that_stay_are_spread_evenly(count, data):
    chosen = data.draw(st.integers(0, count))
    resident = spread(count, chosen)
    assert (len(resident), sum(resident)) == (count, chosen)
    places = [index for index, is_resident in enumerate(resident) if is_resident]
    gaps = [later - earlier for earlier, later in itertools.pairwise(places)]
    assert not gaps or max(gaps) - min(gaps) <= 1

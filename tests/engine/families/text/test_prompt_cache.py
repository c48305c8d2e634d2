"""What is kept of words: as it was, within its room, what was asked for longest ago going first."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.family import Conditioning
from mezzotint.families.text.prompt_cache import PromptCache
from mezzotint.protocol import Sampling

SIZE = 4 * 10  # bytes of what is put here


def said(number: float) -> Conditioning:
    return Conditioning(
        guided=False,
        sampling=Sampling(guidance_scale=1.0, guidance_rescale=0.0),
        tensors={"text": torch.full((1, 10), float(number))},
    )


def test_what_is_kept_is_a_copy():
    words, given_ = PromptCache(), said(1)
    words.put("a", given_)
    given_.tensors["text"].zero_()
    kept = words.get("a")
    assert kept is not None and kept.tensors["text"].tolist() == [[1.0] * 10]
    assert words.get("b") is None


@given(room=st.integers(0, 5 * SIZE), asked=st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=40))
def test_the_room_is_kept_and_the_last_asked_for_stay(room, asked):
    words, order = PromptCache(room), []
    for puts, number in asked:
        if puts:
            words.put(number, said(number))
        elif (found := words.get(number)) is not None:
            assert float(found.tensors["text"][0, 0]) == number
        if (puts and room >= SIZE) or number in order:
            order = [*(each for each in order if each != number), number]
        order = order[-(room // SIZE) :] if room >= SIZE else []
        assert words.bytes == SIZE * len(words) <= room
    assert [number for number in range(8) if words.get(number) is not None] == sorted(order)

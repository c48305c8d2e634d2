"""Regional prompts: outside of its box, a prompt has no influence through attention, to the bit."""

import pytest
import torch
from attending_networks import session_of
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.acceleration.regional_attention import attend_by_regions, attending_by_regions, shares
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reduction import Grid
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.values.regions import RegionRef

SIZE, SPANS = (4, 6), (5, 3, 7)
TOKENS = SIZE[0] * SIZE[1]
LEFT = RegionRef(box=(0, 0, 0.5, 1), prompt="a")
FAINT = RegionRef(box=(0.5, 0, 0.5, 0.5), prompt="b", weight=0.5)
EVERYWHERE = RegionRef(box=(0, 0, 1, 1), prompt="c")


class Block(torch.nn.Module):
    """Self-attention and cross-attention as in a U-Net."""

    def __init__(self):
        from diffusers.models.attention_processor import Attention

        super().__init__()
        torch.manual_seed(0)
        self.attn1 = Attention(query_dim=8, heads=2, dim_head=4)
        self.attn2 = Attention(query_dim=8, cross_attention_dim=6, heads=2, dim_head=4)

    def forward(self, image, text, mask=None):
        """The cross-attention's output `(b, n, 8)`."""
        return self.attn2(image, encoder_hidden_states=text, attention_mask=mask)


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.inference_mode():
        yield


@given(st.lists(st.sampled_from([LEFT, FAINT, EVERYWHERE]), min_size=1, max_size=4), st.integers(1, 9))
def test_the_shares_of_a_token_are_1_in_sum(regions, height):
    parts = shares(regions, (height, 6))
    assert parts.shape == (1 + len(regions), height * 6)
    torch.testing.assert_close(parts.sum(0), torch.ones(height * 6))
    assert (parts >= 0).all()


def test_boxes_and_weights():
    parts = shares([LEFT, FAINT], SIZE).unflatten(1, SIZE)
    assert parts[1].tolist() == [[1, 1, 1, 0, 0, 0]] * 4
    assert parts[2].tolist() == [[0, 0, 0, 0.5, 0.5, 0.5]] * 2 + [[0.0] * 6] * 2
    assert shares([EVERYWHERE, LEFT], SIZE)[:, 0].tolist() == [0, 0.5, 0.5]


def test_masks_are_scaled_to_the_tokens():
    mask = Image.new("L", (60, 40))
    mask.paste(255, (0, 0, 25, 40))  # two columns and a half of six
    parts = shares([RegionRef(mask="a.png", prompt="a"), FAINT], SIZE, [mask, None]).unflatten(1, SIZE)
    torch.testing.assert_close(parts[1], torch.tensor([1, 1, 0.5, 0, 0, 0]).expand(SIZE), atol=0.01, rtol=0)
    torch.testing.assert_close(parts[0, 0], torch.tensor([0, 0, 0.5, 0.5, 0.5, 0.5]), atol=0.01, rtol=0)


def test_in_cross_attention():
    block, image, texts = Block(), torch.randn(2, TOKENS, 8), [torch.randn(2, span, 6) for span in SPANS]
    plain = [block(image, text) for text in texts]
    processor = block.attn2.processor
    with attending_by_regions([block], session_of("sdpa"), [LEFT, FAINT], SPANS, SIZE):
        made = block(image, torch.cat(texts, 1))
        shut = torch.zeros(2, 1, sum(SPANS)).masked_fill(torch.arange(sum(SPANS)) == 0, -1e4)
        masked = block(image, torch.cat(texts, 1), shut)
    assert block.attn2.processor is processor
    left = (shares([LEFT], SIZE)[1] == 1).nonzero()[:, 0]
    assert torch.equal(made[:, left], plain[1][:, left])  # nothing of the others
    assert torch.equal(masked[:, left], made[:, left])
    upper, lower = 5, TOKENS - 1
    torch.testing.assert_close(made[:, upper], (plain[0] + plain[2])[:, upper] / 2)
    assert torch.equal(made[:, lower], plain[0][:, lower])
    assert not torch.equal(masked[:, lower], made[:, lower])


def test_one_region_everywhere_is_its_prompt():
    block, image, texts = Block(), torch.randn(1, TOKENS, 8), [torch.randn(1, span, 6) for span in SPANS[:2]]
    with attending_by_regions([block], session_of("sdpa"), [EVERYWHERE], SPANS[:2], SIZE):
        made = block(image, torch.cat(texts, 1))
    assert torch.equal(made, block(image, texts[1]))


def joint(regions, spans, text, image, *, text_first, masks=NO_MASKS):
    """Attention over texts and an image, whose queries, keys and values are given; `(1, 1, n, 4)`."""
    grid = Grid(sum(spans) if text_first else 0, *SIZE)
    q, k, v = (torch.cat(pair if text_first else pair[::-1], 2) for pair in zip(text, image, strict=True))
    how = {"grid": grid, "parts": lambda _: shares(regions, SIZE), "spans": spans, "text_first": text_first}
    return attend_by_regions(lambda *given: attention_sdpa(*given), q, k, v, masks, None, **how), grid


@pytest.mark.parametrize("text_first", [True, False])
def test_in_joint_attention(text_first):
    regions, image = [LEFT, FAINT], [torch.randn(1, 1, TOKENS, 4) for _ in range(3)]
    text = [torch.randn(1, 1, sum(SPANS), 4) for _ in range(3)]
    made, grid = joint(regions, SPANS, text, image, text_first=text_first)
    other = [each.clone() for each in text]
    for each in other:
        each[:, :, 5:8] += 1  # the prompt of the left half
    changed, _ = joint(regions, SPANS, other, image, text_first=text_first)
    differs = (made != changed).any(-1)[0, 0]
    inside = shares(regions, SIZE)[1] > 0
    assert torch.equal(differs[grid.start : grid.stop], inside)
    begin = 5 if text_first else TOKENS + 5
    texts = torch.cat([differs[: grid.start], differs[grid.stop :]])
    assert texts.nonzero()[:, 0].tolist() == [5, 6, 7] and differs[begin : begin + 3].all()


def test_one_region_everywhere_in_joint_attention():
    image, text = ([torch.randn(1, 1, each, 4) for _ in range(3)] for each in (TOKENS, 8))
    made, _ = joint([EVERYWHERE], (5, 3), text, image, text_first=True)
    alone = [torch.cat([one[:, :, 5:], two], 2) for one, two in zip(text, image, strict=True)]
    assert torch.equal(made[:, :, 5:], attention_sdpa(alone[0], alone[1], alone[2], NO_MASKS, None))
    alone_image, _ = joint([EVERYWHERE], (), [each[:, :, :0] for each in text], image, text_first=True)
    assert torch.equal(alone_image, attention_sdpa(image[0], image[1], image[2], NO_MASKS, None))


def test_masks_are_refused():
    tensors = [torch.randn(1, 1, 8, 4) for _ in range(3)], [torch.randn(1, 1, TOKENS, 4) for _ in range(3)]
    with pytest.raises(ValueError, match="masks"):
        joint([EVERYWHERE], (5, 3), *tensors, text_first=True, masks=Masks(bias=torch.zeros(1)))


def test_without_regions_nothing_changes():
    block = Block()
    before = block.attn2.processor
    with attending_by_regions([block], session_of("sdpa"), (), (), SIZE):
        assert block.attn2.processor is before

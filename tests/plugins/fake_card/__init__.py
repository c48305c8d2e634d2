"""A CUDA device in a torch that is built for processors: real tensors of `cuda:0`, computed by the processor's kernels.

Use: `with fake_card(total=2**31) as card:`. What it tells and what it lacks: docs/fake_card.md.
"""

from fake_card.install import fake_card
from fake_card.state import Card, Hazard, card

__all__ = ["Card", "Hazard", "card", "fake_card"]

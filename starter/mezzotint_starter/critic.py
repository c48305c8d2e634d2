"""A critic of small patches: what tells it drawn images from decoded ones, the decoder learns to put right.

Hinge losses as in "Geometric GAN" (arXiv 1705.02894, eq. 8 and 9), patches as in arXiv 1611.07004, section 3.2.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

CHANNELS = (32, 64, 96)


class Critic(nn.Module):
    """Images (b, 3, h, w) to a mark for each patch (b, 1, h/8, w/8): above 0 for drawn, below 0 for decoded."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third = CHANNELS
        self.layers = nn.Sequential(
            nn.Conv2d(3, first, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(first, second, 4, stride=2, padding=1),
            nn.GroupNorm(8, second),
            nn.LeakyReLU(0.2),
            nn.Conv2d(second, third, 4, stride=2, padding=1),
            nn.GroupNorm(8, third),
            nn.LeakyReLU(0.2),
            nn.Conv2d(third, 1, 3, padding=1),
        )

    def forward(self, images: Tensor) -> Tensor:
        """The marks."""
        marks: Tensor = self.layers(images)
        return marks


def build_critic(seed: int) -> Critic:
    """A critic that knows nothing yet."""
    torch.manual_seed(seed)
    return Critic()


def critic_loss(critic: Critic, drawn: Tensor, decoded: Tensor) -> Tensor:
    """How badly it tells them apart."""
    loss: Tensor = (functional.relu(1 - critic(drawn)) + functional.relu(1 + critic(decoded))).mean() / 2
    return loss


def deception_loss(critic: Critic, decoded: Tensor) -> Tensor:
    """How well it sees that these are decoded."""
    loss: Tensor = -critic(decoded).mean()
    return loss


def balance(wanted: Tensor, other: Tensor, last: Tensor) -> Tensor:
    """What to multiply `other` by to pull as hard at the last weights as `wanted` does (arXiv 2012.09841, eq. 7)."""
    (first,) = torch.autograd.grad(wanted, last, retain_graph=True)
    (second,) = torch.autograd.grad(other, last, retain_graph=True)
    factor: Tensor = first.norm() / (second.norm() + 1e-6)
    return factor.clamp(max=1e3).detach()

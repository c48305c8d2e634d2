"""A patch discriminator (critic) that tells drawn images from decoded ones, for adversarial decoder training.

Hinge losses as in "Geometric GAN" (arXiv 1705.02894, eq. 8 and 9), patches as in arXiv 1611.07004, section 3.2.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

CHANNELS = (32, 64, 96)


class Critic(nn.Module):
    """Scores the patches of images (b, 3, h, w) as (b, 1, h/8, w/8): above 0 for drawn, below 0 for decoded."""

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
        """Return the patch scores."""
        scores: Tensor = self.layers(images)
        return scores


def build_critic(seed: int) -> Critic:
    """Return an untrained critic."""
    torch.manual_seed(seed)
    return Critic()


def critic_loss(critic: Critic, drawn: Tensor, decoded: Tensor) -> Tensor:
    """Return the critic's hinge loss."""
    loss: Tensor = (functional.relu(1 - critic(drawn)) + functional.relu(1 + critic(decoded))).mean() / 2
    return loss


def generator_loss(critic: Critic, decoded: Tensor) -> Tensor:
    """Return the decoder's adversarial loss: the negative mean score of decoded images."""
    loss: Tensor = -critic(decoded).mean()
    return loss


def adaptive_weight(wanted: Tensor, other: Tensor, last: Tensor) -> Tensor:
    """Return the factor that equalizes the gradient norms of both losses at `last` (arXiv 2012.09841, eq. 7)."""
    (first,) = torch.autograd.grad(wanted, last, retain_graph=True)
    (second,) = torch.autograd.grad(other, last, retain_graph=True)
    factor: Tensor = first.norm() / (second.norm() + 1e-6)
    return factor.clamp(max=1e3).detach()

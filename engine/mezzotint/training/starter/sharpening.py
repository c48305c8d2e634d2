"""Teaching the decoder alone, while the latents stay as they are: it can go on after the transformer was taught."""

from pathlib import Path

import torch
from diffusers import AutoencoderKL
from torch import Tensor, nn

from mezzotint.training.starter.autoencoder import picture_error, picture_tensor
from mezzotint.training.starter.learner import Course, Learner, train
from mezzotint.training.starter.randomness import step_generator, step_random
from mezzotint.training.starter.world import training_scene

PHASE = "sharpening"
BATCH = 4
EDGE_WEIGHT = 1.0
# The transformer's latents are never quite right; a little noise keeps the decoder from relying on their last digit.
NOISE = 0.05


def train_decoder(
    network: AutoencoderKL, work: Path, *, seed: int, steps: int, device: str, parts: int = 1, rate: float = 6e-4
) -> None:
    """Run the phase on whole pictures; only the decoder's weights change, and end as their average."""
    course = Course(phase=PHASE, steps=steps, peak_rate=rate, parts=parts, warm_up=20, decay_share=0.9)
    decoder = nn.ModuleDict({"decoder": network.decoder, "post_quant_conv": network.post_quant_conv}).to(device)

    def loss_at(step: int, shard: slice) -> Tensor:
        rng = step_random(seed, PHASE, step)
        scenes = [training_scene(seed, rng.getrandbits(40)) for _ in range(BATCH)][shard]
        pictures = torch.stack([picture_tensor(scene) for scene in scenes]).to(device)
        with torch.no_grad():
            latents = network.encode(pictures).latent_dist.mean
        noise = torch.randn(BATCH, *latents.shape[1:], generator=step_generator(seed, PHASE, step))
        again = network.decode(latents + NOISE * noise[shard].to(device)).sample
        return picture_error(again, pictures, edge_weight=EDGE_WEIGHT)

    decoder.train()
    train(Learner(decoder, course), work / "sharpening.safetensors", loss_at)
    decoder.eval()

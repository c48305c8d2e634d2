"""Distil a small preview decoder from the starters' VAE: it learns the images that the VAE decodes, not the drawn ones.

Early steps estimate means of many images, so that half of the latents are mixtures of two scenes'; all are noisy.
"""

import json
import logging
import math
from pathlib import Path

import torch
from diffusers import AutoencoderKL
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional

from mezzotint.atomic import atomic_write
from mezzotint.benchmarks.postcards.world import judging_scene
from mezzotint.families.preview_decoder.separable import CLASS_NAME, SeparableDecoder, SeparableShape
from mezzotint.training.distributed import Processes
from mezzotint_starter.autoencoder import encode_scenes, image_error
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.plan import Plan
from mezzotint_starter.randomness import step_generator
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.variants.recipe import base_folder

LOG = logging.getLogger("mezzotint_starter")
PHASE = "preview-decoder"
FOLDER = "preview_decoder"
SHAPE = SeparableShape(latent_channels=4, widths=(32, 24, 16, 12), depths=(3, 2, 1, 1))
BATCH = 4
RATE = 2e-3
NOISE = 0.05
EDGE_WEIGHT = 0.5
_DECODED_AT_ONCE = 16


def make_preview_decoder(plan: Plan) -> None:
    """Run the phase, and write the decoder to the folder `preview_decoder` of starter-dit in `plan.out`."""
    vae = AutoencoderKL.from_pretrained(base_folder(plan) / "vae", local_files_only=True).eval().to(plan.device)
    latents = training_latents(
        vae,
        plan.work / "latents-for-previews.safetensors",
        seed=plan.seed,
        count=plan.preview_images,
        side=IMAGE_SIDE,
        device=plan.device,
        parts=plan.parts,
    )
    network = build_preview_decoder(plan.seed)
    train_preview_decoder(network, vae, latents, plan)
    psnr = preview_psnr(network, vae, seed=plan.seed, device=plan.device, images=plan.measured)
    LOG.info("the preview decoder is within %.2f dB of the VAE's images", psnr)
    facts = {"images": len(latents), "steps": plan.preview_decoder_steps, "psnr": round(psnr, 2), "seed": plan.seed}
    if Processes.of_environment().is_first:
        _export(network, plan.out / "dit" / FOLDER, facts)


def build_preview_decoder(seed: int) -> SeparableDecoder:
    """Return an untrained decoder of 24 thousand weights."""
    torch.manual_seed(seed)
    return SeparableDecoder(SHAPE)


def train_preview_decoder(network: SeparableDecoder, vae: AutoencoderKL, latents: Tensor, plan: Plan) -> None:
    """Run the phase on latents (n, 4, h, w); leaves the network with averaged weights."""
    given = augmented(latents, step_generator(plan.seed, f"{PHASE} latents", 0))
    wanted = _decoded(vae, given)
    schedule = TrainingSchedule(phase=PHASE, steps=plan.preview_decoder_steps, peak_lr=RATE, parts=plan.parts)
    trainer = Trainer(network.to(plan.device).train(), schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        rows = torch.randint(len(given), (BATCH,), generator=step_generator(plan.seed, PHASE, step))[shard]
        images = wanted[rows].to(plan.device).float() / 127.5 - 1
        return image_error(network(given[rows].to(plan.device)), images, edge_weight=EDGE_WEIGHT)

    train(trainer, plan.work / f"{PHASE}.safetensors", loss_at)
    network.eval()


def augmented(latents: Tensor, generator: torch.Generator) -> Tensor:
    """Return noisy latents, every other one mixed with the next."""
    share = torch.rand(len(latents), 1, 1, 1, generator=generator)
    share[::2] = 1
    mixed = torch.lerp(latents.roll(-1, dims=0), latents, share)
    return mixed + NOISE * torch.randn(latents.shape, generator=generator)


@torch.no_grad()
def _decoded(vae: AutoencoderKL, latents: Tensor) -> Tensor:
    """Return the VAE's images (n, 3, 8h, 8w) as bytes, on the CPU."""
    parts = [vae.decode(part.to(vae.device)).sample for part in torch.split(latents, _DECODED_AT_ONCE)]
    return torch.cat([((part.clamp(-1, 1) + 1) * 127.5).round().byte().cpu() for part in parts])


@torch.no_grad()
def preview_psnr(network: SeparableDecoder, vae: AutoencoderKL, *, seed: int, device: str, images: int = 64) -> float:
    """Return the PSNR in dB relative to the VAE's images of held-out scenes."""
    latents = encode_scenes(vae, [judging_scene(seed, index) for index in range(images)], device).to(device)
    wanted = vae.decode(latents).sample.clamp(-1, 1)
    error = functional.mse_loss(network(latents).clamp(-1, 1), wanted).item()
    return 10 * math.log10(4 / max(error, 1e-12))


def _export(network: SeparableDecoder, folder: Path, trained: dict[str, float]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in network.state_dict().items()}
    config = {"_class_name": CLASS_NAME, "licence": "Apache-2.0", "trained": trained}
    atomic_write(folder / "model.safetensors", save(tensors, metadata={"format": "pt"}), overwrite=True)
    atomic_write(folder / "config.json", (json.dumps(config, indent=2) + "\n").encode(), overwrite=True)

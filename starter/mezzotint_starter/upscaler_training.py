"""Train the bundled upscaler: scenes at half their size, or as the starters' VAE decodes them, to scenes as drawn."""

import logging
import math

import torch
from diffusers import AutoencoderKL
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional

from mezzotint.atomic import atomic_write
from mezzotint.benchmarks.postcards.world import Scene, judging_scene, training_scene
from mezzotint.training.distributed import Processes
from mezzotint.upscaling.compact import Compact
from mezzotint_starter.autoencoder import image_error, image_tensor
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.plan import Plan
from mezzotint_starter.randomness import step_generator
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.variants.recipe import base_folder

LOG = logging.getLogger("mezzotint_starter")
PHASE = "upscaler"
SCALE = 2
WIDTH, DEPTH = 24, 6  # 35 thousand weights
CROP = 48  # pixels of the small image
BATCH = 8
RATE = 2e-3
NOISE = 0.01
EDGE_WEIGHT = 0.5
_AT_ONCE = 8


def make_upscaler(plan: Plan) -> None:
    """Run the phase, and write the upscaler to the folder `upscaler` in `plan.out`."""
    vae = AutoencoderKL.from_pretrained(base_folder(plan) / "vae", local_files_only=True).eval().to(plan.device)
    network = build_upscaler(plan.seed)
    train_upscaler(network, vae, plan)
    psnr, plain = upscaler_psnr(network, seed=plan.seed, device=plan.device, images=plan.measured)
    LOG.info("the upscaler is within %.2f dB of the scenes as drawn; bicubic interpolation within %.2f", psnr, plain)
    if Processes.of_environment().is_first:
        tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in network.state_dict().items()}
        facts = {"format": "pt", "licence": "Apache-2.0", "steps": str(plan.upscaler_steps), "psnr": f"{psnr:.2f}"}
        folder = plan.out / "upscaler"
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write(folder / "model.safetensors", save(tensors, metadata=facts), overwrite=True)


def build_upscaler(seed: int) -> Compact:
    """Return an untrained upscaler, which repeats pixels."""
    torch.manual_seed(seed)
    network = Compact(WIDTH, DEPTH, SCALE)
    last = network.body[-1]
    assert isinstance(last, torch.nn.Conv2d) and last.bias is not None  # noqa: S101  as built
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.zeros_(last.bias)
    return network


def train_upscaler(network: Compact, vae: AutoencoderKL, plan: Plan) -> None:
    """Run the phase; leaves the network with averaged weights."""
    large, small, decoded = _pairs(vae, plan)
    schedule = TrainingSchedule(phase=PHASE, steps=plan.upscaler_steps, peak_lr=RATE, parts=plan.parts)
    trainer = Trainer(network.to(plan.device).train(), schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        generator = step_generator(plan.seed, PHASE, step)
        crops = [_crop(large, small, decoded, generator) for _ in range(BATCH)]
        given, wanted = (torch.stack(each)[shard].to(plan.device).float() / 255 for each in zip(*crops, strict=True))
        noise = NOISE * torch.randn(BATCH, *given.shape[1:], generator=generator)[shard].to(plan.device)
        return image_error(network(given + noise) * 2, wanted * 2, edge_weight=EDGE_WEIGHT)

    train(trainer, plan.work / f"{PHASE}.safetensors", loss_at)
    network.eval()


def _crop(large: Tensor, small: Tensor, decoded: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The same part of a small image and of the large one, turned over at random."""

    def drawn(most: int) -> int:
        return int(torch.randint(most, (), generator=generator))

    row, kind = drawn(len(large)), drawn(2)
    top, left = drawn(IMAGE_SIDE - CROP + 1), drawn(IMAGE_SIDE - CROP + 1)
    given = (small, decoded)[kind][row, :, top : top + CROP, left : left + CROP]
    wanted = large[row, :, SCALE * top : SCALE * (top + CROP), SCALE * left : SCALE * (left + CROP)]
    return (given.flip(-1), wanted.flip(-1)) if drawn(2) else (given, wanted)


@torch.no_grad()
def _pairs(vae: AutoencoderKL, plan: Plan) -> tuple[Tensor, Tensor, Tensor]:
    """Scenes as drawn, at half the size, and as the VAE decodes those; bytes `(n, 3, h, w)` on the CPU."""
    large: list[Tensor] = []
    small: list[Tensor] = []
    decoded: list[Tensor] = []
    for at in range(0, plan.upscaler_images, _AT_ONCE):
        scenes = [training_scene(plan.seed, index) for index in range(at, min(at + _AT_ONCE, plan.upscaler_images))]
        drawn = _drawn(scenes)
        halves = _halved(drawn)
        again = vae.decode(vae.encode(halves.to(plan.device) * 2 - 1).latent_dist.mean).sample.cpu() / 2 + 0.5
        for images, made in ((large, drawn), (small, halves), (decoded, again)):
            images.append((made.clamp(0, 1) * 255).round().byte())
    return torch.cat(large), torch.cat(small), torch.cat(decoded)


def _drawn(scenes: list[Scene]) -> Tensor:
    """Images `(n, 3, h, w)` in 0..1 at the upscaler's size."""
    return torch.stack([image_tensor(scene, SCALE * IMAGE_SIDE) for scene in scenes]) / 2 + 0.5


def _halved(images: Tensor) -> Tensor:
    return functional.interpolate(images, scale_factor=1 / SCALE, mode="bicubic", antialias=True).clamp(0, 1)


@torch.no_grad()
def upscaler_psnr(network: Compact, *, seed: int, device: str, images: int = 64) -> tuple[float, float]:
    """Return the PSNR in dB over halved held-out scenes, of the network and of bicubic interpolation."""
    drawn = _drawn([judging_scene(seed, index) for index in range(images)])
    given = _halved(drawn)
    made = network(given.to(device)).cpu()
    plain = functional.interpolate(given, scale_factor=float(SCALE), mode="bicubic")
    return _psnr(made, drawn), _psnr(plain, drawn)


def _psnr(made: Tensor, wanted: Tensor) -> float:
    return -10 * math.log10(max(functional.mse_loss(made.clamp(0, 1), wanted).item(), 1e-12))

"""Train a ControlNet of starter-xl for edges (arXiv 2302.05543): a copy of the U-Net's encoder, changed by low rank."""

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL, ControlNetModel, UNet2DConditionModel
from torch import Tensor
from torch.nn import functional
from transformers import CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from mezzotint.atomic import atomic_write
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.images.control.canny import canny
from mezzotint.training.distributed import Processes
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE, load_network
from mezzotint_starter.plan import Plan
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.variants.low_rank import add_low_rank, merge_low_rank
from mezzotint_starter.variants.recipe import base_folder
from mezzotint_starter.xl.clip_encoder_training import ClipPair
from mezzotint_starter.xl.clip_export import BASE_FOLDER
from mezzotint_starter.xl.unet_training import (
    Batch,
    TrainingLatents,
    UNetTask,
    build_scheduler,
    conditions,
    draw_batch,
)

LOG = logging.getLogger("mezzotint_starter")
FOLDER = "xl-edges"
COMPONENT = "controlnet"
WEIGHTS = "diffusion_pytorch_model.safetensors"
TASK = UNetTask(phase="control", refiner=False, empty_share=0.3)
CONDITION_CHANNELS = (8, 16, 32, 48)
RANK = 8
_CHANGED = r"(down_blocks|mid_block)\..*"
_NEW = ("controlnet_cond_embedding.", "controlnet_down_blocks.", "controlnet_mid_block.")


def make_control(plan: Plan) -> None:
    """Run the phase, and write the ControlNet to the folder `xl-edges` in `plan.out`."""
    unet = load_network(UNet2DConditionModel, base_folder(plan, BASE_FOLDER) / "unet").to(plan.device)
    network = build_control(unet, plan.seed)
    train_control(network, unet, plan)
    if Processes.of_environment().is_first:
        write_control(network, unet, plan.out / FOLDER / COMPONENT)


def build_control(unet: UNet2DConditionModel, seed: int) -> ControlNetModel:
    """Return the untrained ControlNet, which adds nothing; only low-rank changes and new layers are trained."""
    torch.manual_seed(seed)
    network: ControlNetModel = ControlNetModel.from_unet(
        unet, conditioning_embedding_out_channels=CONDITION_CHANNELS
    ).requires_grad_(False)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(name.startswith(_NEW))
    add_low_rank(network, _CHANGED, RANK)
    return network


def train_control(network: ControlNetModel, unet: UNet2DConditionModel, plan: Plan) -> None:
    """Run the phase; leaves the ControlNet with averaged weights."""
    images, edges = _examples(plan)
    schedule = TrainingSchedule(
        phase=TASK.phase, steps=plan.control_steps, peak_lr=1.5e-3, parts=plan.parts, warm_up=100
    )
    trainer = Trainer(network.to(plan.device).train(), schedule)
    unet.requires_grad_(False).eval()
    pair = _clip_pair(plan)
    alphas_cumprod: Tensor = build_scheduler().alphas_cumprod

    def loss_at(step: int, shard: slice) -> Tensor:
        batch = draw_batch(images, alphas_cumprod, TASK, seed=plan.seed, step=step)
        shown = edges.large if batch.noisy.shape[-1] == images.large.shape[-1] else edges.small
        return control_loss(network, unet, pair, batch, shown[batch.chosen[shard]], shard)

    train(trainer, plan.work / f"{TASK.phase}.safetensors", loss_at)
    network.eval()


def control_loss(
    network: ControlNetModel,
    unet: UNet2DConditionModel,
    pair: ClipPair,
    batch: Batch,
    edges: Tensor,
    shard: slice = slice(None),
) -> Tensor:
    """Return the mean squared error of the velocity predicted with edges (b, h, w), 0 or 255, of a shard."""
    noisy, timesteps = batch.noisy[shard].to(pair.device), batch.timesteps[shard].to(pair.device)
    text, added = conditions(pair, batch.prompts[shard], noisy.shape[-1] * 8, TASK)
    shown = (edges.to(pair.device).float() / 255).unsqueeze(1).expand(-1, 3, -1, -1)
    down, middle = network(noisy, timesteps, text, controlnet_cond=shown, added_cond_kwargs=added, return_dict=False)
    predicted = unet(
        noisy,
        timesteps,
        encoder_hidden_states=text,
        added_cond_kwargs=added,
        down_block_additional_residuals=down,
        mid_block_additional_residual=middle,
    ).sample
    return functional.mse_loss(predicted, batch.velocity[shard].to(pair.device))


def write_control(network: ControlNetModel, unet: UNet2DConditionModel, folder: Path) -> None:
    """Write the folder: weights as a change of starter-xl's U-Net, which they are read with."""
    changes, base = merge_low_rank(network), unet.state_dict()
    own: dict[str, Tensor] = {}
    taken: dict[str, str] = {}
    for name, value in network.state_dict().items():
        if name in base and (name in changes or torch.equal(value, base[name])):
            taken[name] = name
        else:
            own[name] = value
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / "config.json", network.to_json_string().encode(), overwrite=True)
    write_delta(folder / WEIGHTS, own=own, low_rank=changes, taken=taken, trunk=f"{BASE_FOLDER}/unet")


def _clip_pair(plan: Plan) -> ClipPair:
    folder = base_folder(plan, BASE_FOLDER)
    classes = {"text_encoder": CLIPTextModel, "text_encoder_2": CLIPTextModelWithProjection}
    first, second = (load_network(kind, folder / name).to(plan.device) for name, kind in classes.items())
    tokenizers = [CLIPTokenizer.from_pretrained(folder / name) for name in ("tokenizer", "tokenizer_2")]
    return ClipPair(tokenizers=(tokenizers[0], tokenizers[1]), first=first, second=second, device=plan.device)


def _examples(plan: Plan) -> tuple[TrainingLatents, TrainingLatents]:
    """Latents of scenes, and their edges (n, h, w)."""
    autoencoder = load_network(AutoencoderKL, base_folder(plan) / "vae").to(plan.device)
    made = partial(training_latents, autoencoder, seed=plan.seed, device=plan.device, parts=plan.parts)
    counts = {IMAGE_SIDE: plan.control_images, 2 * IMAGE_SIDE: plan.large_control_images}
    latents = [
        made(plan.work / f"latents-control-{side}.safetensors", count=count, side=side)
        for side, count in counts.items()
    ]
    edges = [_edges(plan, side, count) for side, count in counts.items()]
    return TrainingLatents(small=latents[0], large=latents[1]), TrainingLatents(small=edges[0], large=edges[1])


def _edges(plan: Plan, side: int, count: int) -> Tensor:
    def drawn(index: int) -> Tensor:
        image = paint(training_scene(plan.seed, index), side)
        return torch.from_numpy(canny(np.asarray(image.convert("L"))))

    with ThreadPoolExecutor(plan.parts) as pool:
        return torch.stack(list(pool.map(drawn, range(count))))

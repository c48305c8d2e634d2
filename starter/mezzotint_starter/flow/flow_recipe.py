"""Train starter-flow, by phase: latents of edits in two sizes, transformer at both, export."""

from collections.abc import Sequence
from functools import partial

import torch
from diffusers import AutoencoderKL, FluxKontextPipeline
from PIL import Image
from transformers import CLIPTextModel, CLIPTokenizer, T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.edits import judging_edit
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.errors import StorageError
from mezzotint_starter.export import GUIDANCE_SCALE
from mezzotint_starter.flow.edit_latents import edit_latents
from mezzotint_starter.flow.flow_export import SHARED, STEPS, build_kontext, export_flow
from mezzotint_starter.flow.flow_training import FlowStage, FlowTextEncoders, build_flow_transformer, train_flow
from mezzotint_starter.networks import IMAGE_SIDE, TOKENS, load_network
from mezzotint_starter.plan import Plan
from mezzotint_starter.sheets import SampleLogger, save_sheet

SMALL_BATCH, LARGE_BATCH = 48, 12
SMALL_RATE, LARGE_RATE = 2e-3, 8e-4
LARGE_SIDE = 2 * IMAGE_SIDE


def make_flow(plan: Plan, autoencoder: AutoencoderKL, trained: dict[str, float]) -> None:
    """Run every unfinished phase, and write the model to `plan.out`/flow; starter-dit and starter-xl must be there."""
    encoders, transformer = load_encoders(plan), build_flow_transformer(plan.seed)
    pipeline = build_kontext(transformer, encoders, autoencoder)
    for phase, side, count, steps, batch, rate in (
        ("flow", IMAGE_SIDE, plan.edits, plan.flow_steps, SMALL_BATCH, SMALL_RATE),
        ("flow-large", LARGE_SIDE, plan.large_edits, plan.flow_large_steps, LARGE_BATCH, LARGE_RATE),
    ):
        encoded = partial(edit_latents, autoencoder, plan.work, seed=plan.seed, device=plan.device, parts=plan.parts)
        draw = partial(draw_prompts, pipeline, side=side)
        sheets = SampleLogger(folder=plan.work / "sheets", name=phase, minutes=plan.sheet_minutes, draw=draw)
        stage = FlowStage(
            phase=phase,
            steps=steps,
            batch=batch,
            rate=rate,
            seed=plan.seed,
            parts=plan.parts,
            precision=plan.precision,
        )
        train_flow(transformer, encoders, encoded(count=count, side=side), plan.work, stage, sheets.after)
    save_sheet(partial(draw_prompts, pipeline, side=LARGE_SIDE), plan.work / "sheets" / "flow.png")
    facts = {"edits": plan.edits, "flow_steps": plan.flow_steps, "flow_large_steps": plan.flow_large_steps}
    export_flow(pipeline, plan.out, LARGE_SIDE, trained | facts)


def load_encoders(plan: Plan) -> FlowTextEncoders:
    """Load starter-dit's and starter-xl's text encoders. Raises StorageError if these models are not there yet."""
    t5, clip = (plan.out / SHARED[name] for name in ("text_encoder_2", "text_encoder"))
    for folder in (t5, clip):
        if not folder.is_dir():
            raise StorageError(f"{folder} is missing: make starter-dit and starter-xl first (--only dit, --only xl)")
    return FlowTextEncoders(
        t5=load_network(T5EncoderModel, t5).to(plan.device),
        t5_tokenizer=T5Tokenizer.from_pretrained(plan.out / SHARED["tokenizer_2"]),
        clip=load_network(CLIPTextModel, clip).to(plan.device),
        clip_tokenizer=CLIPTokenizer.from_pretrained(plan.out / SHARED["tokenizer"]),
        device=plan.device,
    )


def draw_prompts(
    pipeline: FluxKontextPipeline, prompts: Sequence[str], *, side: int, seed: int = 7
) -> list[Image.Image]:
    """Generate images of the first half of the prompts; in place of the rest, pairs of a drawn scene and its edit."""
    half = len(prompts) - len(prompts) // 2
    images = [_draw(pipeline, prompt, None, side, seed + number) for number, prompt in enumerate(prompts[:half])]
    for number in range((len(prompts) - half + 1) // 2):
        edit = judging_edit(0, number)
        before = paint(edit.before, side)
        images += [before, _draw(pipeline, edit.instruction, before, side, seed + number)]
    return images


def _draw(
    pipeline: FluxKontextPipeline, prompt: str, reference: Image.Image | None, side: int, seed: int
) -> Image.Image:
    images: list[Image.Image] = pipeline(
        image=reference,
        prompt=prompt,
        negative_prompt="",
        true_cfg_scale=GUIDANCE_SCALE,
        height=side,
        width=side,
        max_area=side * side,
        num_inference_steps=STEPS,
        max_sequence_length=TOKENS,
        generator=torch.Generator().manual_seed(seed),
        _auto_resize=False,
    ).images
    return images[0]

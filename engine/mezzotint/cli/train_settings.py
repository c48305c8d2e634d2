"""The options of `mezzotint train` that are fields of TrainingSettings."""

import argparse
from typing import get_args

from mezzotint.cli.argument_types import integer
from mezzotint.training_protocol import (
    Checkpointing,
    LossWeighting,
    NoiseLevelChoice,
    OptimizerName,
    RateSchedule,
    Shard,
    TrainedLayers,
    TrainingAttention,
    TrainingDtype,
)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each field of TrainingSettings."""
    group = parser.add_argument_group("training", "unset: what suits the model")
    group.add_argument("--steps", type=integer(1, 1_000_000, 1500), metavar="N", help="optimizer steps")
    group.add_argument(
        "--kind",
        choices=("lora", "dora", "lokr", "embedding"),
        default="lora",
        help="what is trained: factors of layers, with magnitudes (dora), as Kronecker products (lokr), or the vectors "
        "of a word (embedding; sd15 and sdxl) (default: lora)",
    )
    group.add_argument("--rank", type=integer(1, 512, 16), metavar="N", help="rank of the LoRA")
    group.add_argument("--alpha", type=float, metavar="X", help="scale times the rank (default: the rank)")
    group.add_argument(
        "--layers",
        choices=get_args(TrainedLayers),
        default="attention",
        help="attention and feed-forward, or all: also the convolutions of U-Nets, modulation of transformers "
        "(default: attention)",
    )
    group.add_argument(
        "--ranks",
        metavar="PART=N,...",
        default="",
        help="other ranks for layers of the denoiser with these parts in their names: down_blocks=4,mid_block=16; "
        "0: not trained",
    )
    group.add_argument(
        "--factor", type=integer(1, 4096, 8), metavar="N", help="size of the smaller factor of a lokr (default: equal)"
    )
    group.add_argument(
        "--text-encoders", action="store_true", help="also train the text encoders of sd15 and sdxl, with a lower rate"
    )
    group.add_argument("--text-rate", type=float, metavar="X", help="their learning rate (default: a tenth)")
    group.add_argument(
        "--vectors", type=integer(1, 75, 4), metavar="N", default=1, help="vectors of an embedding (default: 1)"
    )
    group.add_argument("--rate", type=float, metavar="X", help="learning rate")
    group.add_argument("--batch", type=integer(1, 256, 4), metavar="N", help="images in each step")
    group.add_argument(
        "--accumulate", type=integer(1, 1024, 4), metavar="N", default=1, help="batches in each step (default: 1)"
    )
    group.add_argument("--resolution", type=integer(64, 4096, 1024), metavar="PIXELS", help="side of a square image")
    group.add_argument("--optimizer", choices=get_args(OptimizerName), help="default: adamw, or its 8-bit form to fit")
    group.add_argument("--schedule", choices=get_args(RateSchedule), default="constant", help="of the learning rate")
    group.add_argument("--levels", choices=get_args(NoiseLevelChoice), help="noise levels of flow models")
    group.add_argument("--weighting", choices=get_args(LossWeighting), help="of the loss, for other models")
    group.add_argument("--ema", type=float, metavar="X", default=0.0, help="decay of an average of the weights: 0.99")
    group.add_argument(
        "--checkpointing",
        choices=get_args(Checkpointing),
        help="compute activations again instead of keeping them: in attention and feed-forward, in blocks, or twice "
        "(default: as memory needs)",
    )
    group.add_argument(
        "--offload-activations",
        action=argparse.BooleanOptionalAction,
        help="keep in RAM what checkpointing by blocks keeps (default: as memory needs)",
    )
    group.add_argument(
        "--quantization",
        choices=("none", "int8", "int8-weight", "int4"),
        help="of the frozen model (default: as memory needs)",
    )
    group.add_argument(
        "--stream-blocks",
        type=integer(0, 1000, 20),
        metavar="N",
        help="keep N blocks of the frozen model in RAM, and copy each to the GPU when it is used (default: as memory "
        "needs)",
    )
    group.add_argument("--dtype", choices=get_args(TrainingDtype), default="auto", help="default: auto")
    group.add_argument("--attention", choices=get_args(TrainingAttention), default="auto", help="default: auto")
    group.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, xpu, mps (default: auto)")
    group.add_argument(
        "--devices", metavar="LIST", type=_names, default=(), help="several, each with its share of a batch: 0,1"
    )
    group.add_argument(
        "--shard",
        choices=get_args(Shard),
        default="none",
        help="what is split over the devices, each with those before it (default: none)",
    )
    group.add_argument("--seed", type=integer(0, 2**32 - 1, 7), metavar="N", default=0, help="default: 0")
    group.add_argument("--epochs", type=integer(1, 1000, 10), metavar="N", default=10, help="LoRAs saved on the way")
    group.add_argument("--flip", action="store_true", help="also train on mirrored images")
    group.add_argument("--shuffle", action="store_true", help="shuffle captions at their commas")
    group.add_argument(
        "--keep-tokens", type=integer(0, 100, 1), metavar="N", default=1, help="but not the first N parts"
    )
    group.add_argument(
        "--distill",
        type=integer(1, 1_000_000, 1000),
        metavar="N",
        default=0,
        help="make a model fast: learn from N images that it makes itself "
        "of the prompts in a text file, in place of DIR",
    )
    group.add_argument("--prefix", metavar="WORDS", default="", help="put before every caption")
    group.add_argument(
        "--caption-dropout",
        type=float,
        metavar="X",
        default=0.05,
        help="share of steps without caption (default: 0.05)",
    )
    group.add_argument(
        "--regularization",
        type=integer(0, 10_000, 32),
        metavar="N",
        help="images that the model makes itself, so that it does not forget; 0: none",
    )
    group.add_argument(
        "--validation", type=float, metavar="X", default=0.0, help="share of the images to test on, not to train on"
    )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError("must be names or numbers with commas between them: 0,1")
    return names

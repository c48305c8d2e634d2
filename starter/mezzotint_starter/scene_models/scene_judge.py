"""The judge of composed scenes: which things an image shows, from left to right, their colours, and the scene."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save
from torch import Tensor, nn

from mezzotint.atomic import atomic_write
from mezzotint.benchmarks.postcards.palette import PAINT
from mezzotint.benchmarks.postcards.world import TERRAINS, TIMES, WEATHERS
from mezzotint_starter.scenes.subjects import Subject
from mezzotint_starter.scenes.world import MOST, SIZES, STYLES

SIDE = 128
SLOTS = ("left", "right")
NOTHING = "nothing"
_CHANNELS = (24, 48, 96, 160)
_GROUPS = 8

Values = Mapping[str, Sequence[str]]


def values_of(subjects: Sequence[Subject]) -> dict[str, tuple[str, ...]]:
    """Return what the judge decides, with the possible answers; a slot without a thing has NOTHING."""
    names = (*(subject.name for subject in subjects), NOTHING)
    values: dict[str, tuple[str, ...]] = {}
    for slot in SLOTS:
        values |= {slot: names, f"{slot} colour": tuple(PAINT), f"{slot} size": SIZES}
    values |= {"number": tuple(str(number) for number in range(MOST + 1))}
    return values | {"terrain": TERRAINS, "time": TIMES, "weather": WEATHERS, "style": STYLES}


class SceneJudge(nn.Module):
    """A convolutional network that looks at a place for each slot, and at the whole image for the rest."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        first, second, third, last = _CHANNELS
        self.body = nn.Sequential(
            _convolution(3, first, kernel=5, stride=2),
            _convolution(first, second, stride=2),
            _convolution(second, third, stride=2),
            _convolution(third, third),
            _convolution(third, last, stride=2),
            _convolution(last, last),
        )
        self.place = nn.Parameter(torch.zeros(1, last, SIDE // 16, SIDE // 16))
        self.attention = nn.Conv2d(last, len(SLOTS), 1)
        self.heads = nn.ModuleDict({name: nn.Linear(2 * last, len(each)) for name, each in values.items()})

    def forward(self, pixels: Tensor) -> dict[str, Tensor]:
        """Return the logits (b, values) of each question for pixels (b, 3, 128, 128) from -1 to 1."""
        found = self.body(pixels)
        weights = self.attention(found + self.place).flatten(2).softmax(dim=-1)
        cells = (found + self.place).flatten(2)
        whole = found.mean(dim=(2, 3))
        seen = {slot: cells @ weights[:, at, :, None] for at, slot in enumerate(SLOTS)}
        pooled = {slot: torch.cat([each.squeeze(-1), whole], dim=1) for slot, each in seen.items()}
        pooled[""] = torch.cat([found.amax(dim=(2, 3)), whole], dim=1)
        return {name: head(pooled[_slot_of(name)]) for name, head in self.heads.items()}


def _slot_of(name: str) -> str:
    return next((slot for slot in SLOTS if name.startswith(slot)), "")


def _convolution(given: int, made: int, *, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(given, made, kernel, stride=stride, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(_GROUPS, made), nn.SiLU())


def build_scene_judge(values: Values, seed: int) -> SceneJudge:
    """Return an untrained judge."""
    torch.manual_seed(seed)
    return SceneJudge(values)


def seen_pixels(images: Sequence[Image.Image]) -> Tensor:
    """Convert square RGB images of any size to the judge's input, (b, 3, 128, 128) from -1 to 1."""
    sized = [each if each.width == SIDE else each.resize((SIDE, SIDE), Image.Resampling.BOX) for each in images]
    pixels = np.stack([np.asarray(image, dtype=np.float32) for image in sized])
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous() / 127.5 - 1


def save_scene_judge(judge: SceneJudge, values: Values, folder: Path, trained: Mapping[str, Any]) -> None:
    """Write the weights in float16, and the questions with training details, each file atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in judge.state_dict().items()}
    config = {"what": "scene judge", "size": SIDE, "values": values, "licence": "Apache-2.0", "trained": dict(trained)}
    atomic_write(folder / "model.safetensors", save(tensors, metadata={"format": "pt"}), overwrite=True)
    atomic_write(folder / "config.json", (json.dumps(config, indent=1) + "\n").encode(), overwrite=True)


def load_scene_judge(folder: Path) -> tuple[SceneJudge, dict[str, list[str]]]:
    """Load a judge that was saved here, in eval mode, with its questions."""
    values: dict[str, list[str]] = json.loads((folder / "config.json").read_text("utf-8"))["values"]
    judge = SceneJudge(values)
    judge.load_state_dict({name: each.float() for name, each in load_file(folder / "model.safetensors").items()})
    return judge.eval(), values

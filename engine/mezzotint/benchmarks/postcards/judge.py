"""The judge: a small classifier of an image's attributes, trained only on drawn images."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save
from torch import Tensor, nn

from mezzotint import paths
from mezzotint.atomic import atomic_write
from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint.benchmarks.postcards.painting import SIZE
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused, StorageError

CHANNELS = (24, 48, 96, 128)
NARROW = 24
FEATURES = 64
GROUPS = 8
CONFIG, WEIGHTS = "config.json", "model.safetensors"
MAX_CONFIG = 2**16
HOW_TO_MAKE = "`make starter ARGS='--only judge'` creates it"


class Judge(nn.Module):
    """A CNN with four downsamplings, an unpooled 8x8 grid (for left, right, near, far), and a head per attribute."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third, last = CHANNELS
        self.body = nn.Sequential(
            _convolution(3, first, kernel=5, stride=2),
            _convolution(first, second, stride=2),
            _convolution(second, third, stride=2),
            _convolution(third, third),
            _convolution(third, last, stride=2),
            _convolution(last, NARROW, kernel=1),
        )
        self.gather = nn.Linear(NARROW * (SIZE // 16) ** 2, FEATURES)
        self.heads = nn.ModuleDict({name: nn.Linear(FEATURES, len(values)) for name, values in VALUES.items()})

    def features(self, pixels: Tensor) -> Tensor:
        """Return features (b, 64), the input of the linear heads, for pixels (b, 3, 128, 128) from -1 to 1."""
        gathered: Tensor = self.gather(self.body(pixels).flatten(1))
        return nn.functional.silu(gathered)

    def verdicts(self, features: Tensor) -> dict[str, Tensor]:
        """Return each attribute's logits (b, values) for features (b, 64)."""
        return {name: head(features) for name, head in self.heads.items()}

    def forward(self, pixels: Tensor) -> dict[str, Tensor]:
        """Return each attribute's logits (b, values) for pixels (b, 3, 128, 128)."""
        return self.verdicts(self.features(pixels))


def _convolution(given: int, made: int, *, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    # Group norm instead of batch norm, so that an image's result does not depend on the rest of the batch.
    convolution = nn.Conv2d(given, made, kernel, stride=stride, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(GROUPS, made), nn.SiLU())


def build_judge(seed: int) -> Judge:
    """Return an untrained judge; does not affect torch's global random state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Judge()


def pixels_of(images: Sequence[Image.Image]) -> Tensor:
    """Convert square images of any size to the judge's input: (b, 3, 128, 128), from -1 to 1."""
    seen = [np.asarray(_at_size(image.convert("RGB")), dtype=np.float32) for image in images]
    return torch.from_numpy(np.stack(seen)).permute(0, 3, 1, 2).contiguous() / 127.5 - 1


def _at_size(image: Image.Image) -> Image.Image:
    size = (SIZE, SIZE)
    return image if image.size == size else image.resize(size, Image.Resampling.BICUBIC)


def bundled_judge() -> Path:
    """Folder of the bundled judge."""
    return paths.assets_folder() / "starter" / "judge"


def save_judge(judge: Judge, folder: Path, trained: Mapping[str, Any]) -> None:
    """Write the weights in float16 and the config with training details, each file atomically."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot create the folder {plain(folder, 300)}: {error.strerror}") from error
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in judge.state_dict().items()}
    config = {"what": "judge", "size": SIZE, "attributes": VALUES, "licence": "Apache-2.0", "trained": dict(trained)}
    atomic_write(folder / WEIGHTS, save(tensors, metadata={"format": "pt"}), overwrite=True)
    atomic_write(folder / CONFIG, (json.dumps(config, indent=2) + "\n").encode(), overwrite=True)


def load_judge(folder: Path) -> Judge:
    """Load a judge in float32, in eval mode; raises StorageError if missing and ModelRefused if it does not match."""
    if not (folder / CONFIG).is_file():
        raise StorageError(f"there is no judge in {plain(folder, 300)}: {HOW_TO_MAKE}")
    config = read_json_object(folder / CONFIG, MAX_CONFIG)
    stated = {name: list(values) for name, values in VALUES.items()}
    if config.get("attributes") != stated or config.get("size") != SIZE:
        raise _refused(folder, "it was trained on a different version of the images")
    judge = Judge()
    wanted = {name: tuple(tensor.shape) for name, tensor in judge.state_dict().items()}
    if {name: spec.shape for name, spec in read_header(folder / WEIGHTS).tensors.items()} != wanted:
        raise _refused(folder, "its weights have other names or shapes")
    read = read_tensors([folder / WEIGHTS], on_bytes=lambda _: None, cancelled=lambda: False)
    judge.load_state_dict({name: tensor.float() for name, tensor in read})
    return judge.eval()


def _refused(folder: Path, why: str) -> ModelRefused:
    return ModelRefused(f"the judge in {plain(folder, 300)} cannot be used: {why}; {HOW_TO_MAKE}")

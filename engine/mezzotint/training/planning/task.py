"""The task of a training, as planning sees it."""

from dataclasses import dataclass

from mezzotint.memory.footprints.footprint import ComponentFootprint, ModelFootprint, ScalingLaw
from mezzotint.memory.planning.costs import runs_in_fp32, total_bytes
from mezzotint.memory.planning.task import DType
from mezzotint.training.planning.needs import DenoiserNeeds
from mezzotint.training_protocol import BaseQuantization, Checkpointing, OptimizerName

_PIXEL = 16  # bytes per pixel while tiles are joined


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingModel:
    """A model, as far as memory is concerned."""

    footprint: ModelFootprint
    denoiser: DenoiserNeeds
    encoding: ScalingLaw  # bytes of activations when the autoencoder encodes, in float32
    dtype: DType
    text_live: int | None = None  # bytes of activations when a caption is encoded; None: by the footprint

    def text(self) -> tuple[int, int]:
        """Bytes of weights and activations while captions are encoded, one at a time."""
        parts = self._parts("text")
        weights = sum(total_bytes(part, "none", self.dtype) for part in parts)
        if self.text_live is not None:
            return weights, self.text_live
        live = [
            part.live.at(self.footprint.text_tokens) * (2 if runs_in_fp32(part, self.dtype) else 1) for part in parts
        ]
        return weights, int(max(live, default=0))

    def images(self, pixels: int, tile: int) -> tuple[int, int]:
        """The same while an image is encoded, in float32."""
        return sum(total_bytes(part, "none", "float32") for part in self._parts("vae")), self._tiled(
            self.encoding.at, pixels, tile
        )

    def samples(self, pixels: int, tile: int) -> tuple[int, int]:
        """The same while a sample image is decoded."""
        part = self._parts("vae")[0]
        wide = 2 if runs_in_fp32(part, self.dtype) else 1
        live = self._tiled(part.live.at, pixels, tile)
        return total_bytes(part, "none", self.dtype), wide * live

    def _tiled(self, law: object, pixels: int, tile: int) -> int:
        at = min(pixels, tile * tile) if tile else pixels
        joined = pixels * _PIXEL if at < pixels else 0
        return int(law(at / self.footprint.vae_factor**2)) + joined  # type: ignore[operator]

    def _parts(self, role: str) -> list[ComponentFootprint]:
        return [part for part in self.footprint.components if part.role == role]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTask:
    """A training; what is None is chosen."""

    model: TrainingModel
    resolution: int  # pixels; area of a square of this side
    rank: int
    batch: int
    accumulate: int = 1
    may_split: bool = True  # whether a batch may be computed in several passes
    checkpointing: Checkpointing | None = None
    optimizer: OptimizerName | None = None
    quantization: BaseQuantization | None = None
    offload_activations: bool | None = None
    stream_blocks: int | None = None
    averages: bool = False  # whether a moving average of the factors is kept
    samples: bool = False  # whether sample images are made
    has_8bit: bool = True  # whether the 8-bit optimizer is installed

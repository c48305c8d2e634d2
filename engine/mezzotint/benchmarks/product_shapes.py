"""The products that dominate image models' time, and the preparation of their input rows, at 1024x1024."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from mezzotint.dispatch.library import Preparation

_SMALL = 128  # limit of rows and columns on a CPU


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearShape:
    """One layer, mapping x `(rows, columns)` to `(rows, outputs)`."""

    group: str
    name: str
    rows: int
    columns: int
    outputs: int

    @property
    def operations(self) -> int:
        """Multiplications and additions: 2 m k n."""
        return 2 * self.rows * self.columns * self.outputs

    @property
    def numbers(self) -> int:
        """Total elements of x, the weight and the output."""
        return self.rows * (self.columns + self.outputs) + self.columns * self.outputs

    def small(self) -> "LinearShape":
        """Return a small variant for CPUs."""
        rows, columns, outputs = (min(size, _SMALL) for size in (self.rows, self.columns, self.outputs))
        return replace(self, rows=rows, columns=columns, outputs=outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvolutionShape(LinearShape):
    """A 3x3 convolution of images `width` pixels wide: `rows` are the pixels of all, `columns` the channels."""

    width: int
    batch: int

    @property
    def operations(self) -> int:
        """Of the nine products."""
        return 9 * 2 * self.rows * self.columns * self.outputs

    @property
    def numbers(self) -> int:
        """Total elements of x, the weight and the output."""
        return self.rows * (self.columns + self.outputs) + 9 * self.columns * self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsShape:
    """Rows that are prepared, rotated and quantized; `columns` are those of the result."""

    group: str
    name: str
    rows: int
    columns: int
    preparation: Preparation

    @property
    def given(self) -> int:
        """Columns of the input."""
        return self.columns * (2 if self.preparation is Preparation.GEGLU else 1)

    @property
    def bytes(self) -> int:
        """Bytes read, as 16-bit numbers, and written."""
        return self.rows * (2 * self.given + self.columns + 4)

    def small(self) -> "RowsShape":
        """Return a small variant for CPUs."""
        return replace(self, rows=min(self.rows, _SMALL), columns=min(self.columns, _SMALL))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageShape(RowsShape):
    """Images whose channels are normalized in groups: `rows` are all pixels, `columns` the channels."""

    batch: int = 1
    preparation: Preparation = Preparation.AS_IT_IS

    @property
    def bytes(self) -> int:
        """Bytes read and written, as 16-bit numbers, each once."""
        return 4 * self.rows * self.columns


ProductShape: TypeAlias = LinearShape | RowsShape


def _linear(group: str, model: str, rows: int, columns: int, outputs: int) -> LinearShape:
    name = f"{model}, {rows}x{columns} to {outputs}"
    return LinearShape(group=group, name=name, rows=rows, columns=columns, outputs=outputs)


def _rows(model: str, rows: int, columns: int, preparation: Preparation) -> RowsShape:
    name = f"{model}, {rows}x{columns} {preparation.name.lower().replace('_', ' ')}"
    return RowsShape(group="rows", name=name, rows=rows, columns=columns, preparation=preparation)


SHAPES: tuple[ProductShape, ...] = (
    _linear("sdxl", "SDXL", 4096, 640, 640),
    _linear("sdxl", "SDXL", 4096, 640, 5120),
    _linear("sdxl", "SDXL", 4096, 2560, 640),
    _linear("sdxl", "SDXL", 1024, 1280, 1280),
    _linear("sdxl", "SDXL", 1024, 1280, 10240),
    _linear("sdxl", "SDXL", 1024, 5120, 1280),
    _linear("pixart", "PixArt", 4096, 1152, 1152),
    _linear("pixart", "PixArt", 4096, 1152, 4608),
    _linear("pixart", "PixArt", 4096, 4608, 1152),
    _linear("flux", "FLUX.1", 4608, 3072, 9216),
    _linear("flux", "FLUX.1", 4608, 3072, 12288),
    _linear("flux", "FLUX.1", 4608, 12288, 3072),
    _linear("flux", "FLUX.1", 4608, 15360, 3072),
    _linear("flux", "FLUX.1", 64, 3072, 3072),
    _rows("SDXL", 4096, 640, Preparation.AS_IT_IS),
    _rows("SDXL", 4096, 640, Preparation.LAYER_NORM),
    _rows("SDXL", 4096, 2560, Preparation.GEGLU),
    _rows("SDXL", 1024, 5120, Preparation.GEGLU),
    _rows("PixArt", 4096, 4608, Preparation.GELU_TANH),
    _rows("FLUX.1", 4608, 3072, Preparation.LAYER_NORM),
    _rows("FLUX.1", 4608, 12288, Preparation.GELU_TANH),
)
# What kernels compute beside products, or around them.
MODULATED = RowsShape(
    group="fused",
    name="FLUX.1, 4608x3072 layer norm, modulated",
    rows=4608,
    columns=3072,
    preparation=Preparation.LAYER_NORM,
)
GATED = replace(_linear("fused", "FLUX.1", 4608, 12288, 3072), name="FLUX.1, 4608x12288 to 3072, gate and residual")
JOINED = replace(_linear("fused", "FLUX.1", 4608, 3072, 9216), name="FLUX.1, 4608x3072 to 9216, q, k and v")
GROUP_NORMS = (
    ImageShape(group="fused", name="SDXL, 2x128x128x320 group norm, SiLU", rows=2 * 128**2, columns=320, batch=2),
    ImageShape(group="fused", name="autoencoder, 512x512x256 group norm, SiLU", rows=512**2, columns=256),
)
CONVOLUTIONS = tuple(
    ConvolutionShape(
        group="fused",
        name=f"SDXL, 2x{side}x{side}x{channels}, 3x3 convolution",
        rows=2 * side**2,
        columns=channels,
        outputs=channels,
        width=side,
        batch=2,
    )
    for side, channels in ((128, 320), (64, 640), (32, 1280))
)
FUSED: tuple[ProductShape, ...] = (MODULATED, GATED, JOINED, *GROUP_NORMS, *CONVOLUTIONS)
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(shape.group for shape in SHAPES))

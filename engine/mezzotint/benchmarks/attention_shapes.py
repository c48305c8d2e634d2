"""Attention shapes of image models, at 1024x1024 unless stated, with CFG where they use it."""

from dataclasses import dataclass, replace

_SMALL_TOKENS, _SMALL_HEADS = 256, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Attention shape of one layer."""

    group: str
    name: str
    batch: int
    heads: int
    nq: int
    nk: int
    head_dim: int
    kv_heads: int = 0  # 0: same as heads
    words: tuple[int, ...] = ()  # number of keys that are not padding, per batch item; empty: all

    @property
    def heads_of_keys(self) -> int:
        """Number of heads of keys and values."""
        return self.kv_heads or self.heads

    @property
    def products(self) -> int:
        """FLOPs of both products, including padding: 4 b h nq nk d."""
        return 4 * self.batch * self.heads * self.nq * self.nk * self.head_dim

    @property
    def elements(self) -> int:
        """Total elements of q, k, v and the output."""
        queries = self.batch * self.heads * self.nq
        return 2 * self.head_dim * (queries + self.batch * self.heads_of_keys * self.nk)

    def small(self) -> "Shape":
        """Return a small variant for CPUs."""
        if self.heads == self.heads_of_keys:
            heads = kv_heads = min(self.heads, _SMALL_HEADS)
        else:
            kv_heads = 2
            heads = kv_heads * self.heads // self.heads_of_keys
        nq, nk = (min(tokens, _SMALL_TOKENS) for tokens in (self.nq, self.nk))
        words = tuple(min(count, nk) for count in self.words)
        return replace(self, heads=heads, kv_heads=kv_heads, nq=nq, nk=nk, words=words)


def _shape(group: str, name: str, batch: int, heads: int, nq: int, nk: int, head_dim: int, **more: object) -> Shape:
    return replace(
        Shape(group=group, name=name, batch=batch, heads=heads, nq=nq, nk=nk, head_dim=head_dim),
        **more,  # type: ignore[arg-type]
    )


SHAPES: tuple[Shape, ...] = (
    _shape("sdxl", "SDXL, 64x64", 2, 10, 4096, 4096, 64),
    _shape("sdxl", "SDXL, 32x32", 2, 20, 1024, 1024, 64),
    _shape("sdxl", "SDXL, 32x32, one row", 1, 20, 1024, 1024, 64),
    _shape("sdxl", "SDXL refiner, 64x64", 2, 12, 4096, 4096, 64),
    _shape("pixart", "PixArt-Sigma", 2, 16, 4096, 4096, 72),
    _shape("flux", "FLUX.1, image and words", 1, 24, 4608, 4608, 128),
    _shape("flux", "FLUX.1, 4096 tokens", 1, 24, 4096, 4096, 128),
    _shape("sd3", "SD3 Medium, image and words", 2, 24, 4429, 4429, 64),
    _shape("sd3", "SD3.5 Large, image and words", 2, 38, 4429, 4429, 64),
    _shape("vae", "autoencoder, 512x512", 1, 1, 4096, 4096, 512),
    _shape("vae", "autoencoder, 1024x1024", 1, 1, 16384, 16384, 512),
    _shape("vae", "Qwen-Image's autoencoder", 1, 1, 16384, 16384, 384),
    _shape("cross", "SDXL to words, 64x64", 2, 10, 4096, 77, 64),
    _shape("cross", "SDXL to words, 32x32", 2, 20, 1024, 77, 64),
    _shape("cross", "PixArt to words", 2, 16, 4096, 300, 72),
    _shape("cross", "PixArt to padded words", 2, 16, 4096, 300, 72, words=(1, 40)),
    _shape("cross", "HunyuanDiT to words", 2, 16, 4096, 333, 88),
    _shape("cross", "Sana to words", 2, 20, 1024, 300, 112),
    _shape("cross", "few queries of many tokens", 1, 24, 80, 4608, 128),
    _shape("cross", "few queries of many padded tokens", 2, 12, 80, 4608, 128, words=(2304, 4608)),
    _shape("heads", "SD 1.5, 64x64", 2, 8, 4096, 4096, 40),
    _shape("heads", "SD 1.5, 32x32", 2, 8, 1024, 1024, 80),
    _shape("heads", "HunyuanDiT", 2, 16, 4096, 4096, 88),
    _shape("heads", "Lumina 2, 24 heads over 8", 2, 24, 4352, 4352, 96, kv_heads=8),
    _shape("heads", "SD 1.5, 16x16", 2, 8, 256, 256, 160),
    _shape("heads", "AuraFlow", 2, 12, 4352, 4352, 256),
)
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(shape.group for shape in SHAPES))

"""Which preview decoder belongs to a VAE, and where its file is looked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.family import ComponentSource

FOLDER = "preview_decoder"  # beside the VAE's folder
APPROXIMATIONS = "vae_approx"  # ComfyUI's folder of such files
_IN_FOLDER = ("model.safetensors", "diffusion_pytorch_model.safetensors")
_DEFAULT_SCALING = 0.18215
# TAESD's names by class, latent channels and scaling factor; None: any. Qwen-Image's (taew2_1) decodes videos.
_NAMES: Mapping[tuple[str, int, float | None], str] = {
    ("AutoencoderKL", 4, _DEFAULT_SCALING): "taesd",
    ("AutoencoderKL", 4, 0.13025): "taesdxl",
    ("AutoencoderKL", 16, 1.5305): "taesd3",
    ("AutoencoderKL", 16, 0.3611): "taef1",
    ("AutoencoderKLFlux2", 128, None): "taef2",
    ("AutoencoderDC", 32, None): "taesana",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Where the decoder of a VAE is looked for, in this order."""

    name: str | None  # TAESD's name for this latent space
    files: tuple[Path, ...]

    def found(self) -> Path | None:
        """The first of the files that exists."""
        return next((path for path in self.files if is_file(path)), None)

    def missing(self) -> str:
        """What to do where there is none."""
        folders = dict.fromkeys(plain(path.parent, 200) for path in self.files)
        if self.name is None:
            return "none is known for this VAE; name the file: --preview-decoder FILE"
        where = f"one of the folders {', '.join(folders)}" if folders else f"the folder {APPROXIMATIONS} of ComfyUI"
        return f"put {self.name}_decoder.safetensors into {where}, or name the file: --preview-decoder FILE"


def lookup(vae: ComponentSource, folders: Sequence[Path]) -> Lookup:
    """Where the preview decoder of a VAE may be; `folders`: of approximations, as in ComfyUI."""
    name = usual_name(vae.config)
    beside = [path.parent.parent / FOLDER for path in vae.files[:1] if path.parent.name == "vae"]
    files = [folder / file for folder in beside for file in _IN_FOLDER]
    if name is not None:
        names = (f"{name}_decoder.safetensors", f"{name}.safetensors", f"{name}/{_IN_FOLDER[1]}")
        files += [folder / file for folder in folders for file in names]
    return Lookup(name=name, files=tuple(files))


def usual_name(config: Mapping[str, object]) -> str | None:
    """TAESD's name for the latent space of an autoencoder's configuration."""
    kind, channels = str(config.get("_class_name", "AutoencoderKL")), latent_layout(config).channels
    return _NAMES.get((kind, channels, None)) or _NAMES.get((kind, channels, _scaling(config)))


def _scaling(config: Mapping[str, object]) -> float:
    value = config.get("scaling_factor", _DEFAULT_SCALING)
    return round(float(value), 5) if isinstance(value, int | float) else 0.0

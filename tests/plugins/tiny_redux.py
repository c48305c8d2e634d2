"""A small random FLUX.1 Redux for tests, laid out as published: its file, and folders for diffusers beside it."""

from pathlib import Path

from tiny_flux1 import T5_WIDTH

WIDTH, SIDE, PATCH = 48, 28, 14  # of the image encoder; pixels


def write_tiny_redux(folder: Path, *, seed: int = 5, words: int = T5_WIDTH) -> Path:
    """Write image_encoder, image_embedder and the single file; returns that."""
    import torch
    from diffusers.pipelines.flux.modeling_flux import ReduxImageEncoder
    from safetensors.torch import save_file
    from transformers import SiglipVisionConfig, SiglipVisionModel

    torch.manual_seed(seed)
    sizes = {"hidden_size": WIDTH, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 1}
    config = SiglipVisionConfig(**sizes, image_size=SIDE, patch_size=PATCH)
    SiglipVisionModel(config).eval().save_pretrained(folder / "image_encoder")
    embedder = ReduxImageEncoder(redux_dim=WIDTH, txt_in_features=words)
    embedder.save_pretrained(folder / "image_embedder")
    file = folder / "flux1-redux-dev.safetensors"
    save_file({name: one.detach() for name, one in embedder.state_dict().items()}, file)
    return file

"""Small random IP-Adapters for tests, in files as h94 publishes them, with an image encoder beside them."""

from pathlib import Path
from typing import Any

PATCH, SIDE = 14, 28  # pixels
HIDDEN, SEEN = 64, 48  # widths of the image encoder's hidden states and output


def write_image_encoder(folder: Path, *, hidden: int = HIDDEN, seed: int = 3) -> Path:
    """Write a CLIP image encoder."""
    import torch
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

    torch.manual_seed(seed)
    sizes = {"hidden_size": hidden, "intermediate_size": 96, "projection_dim": SEEN, "image_size": SIDE}
    config = CLIPVisionConfig(**sizes, patch_size=PATCH, num_hidden_layers=3, num_attention_heads=2, hidden_act="gelu")
    CLIPVisionModelWithProjection(config).eval().save_pretrained(folder)
    return folder


def write_tiny_ip_adapter(folder: Path, model: Path, *, plus: bool = False, seed: int = 4) -> Path:
    """Write an IP-Adapter for a model's U-Net, and an image encoder in the folder image_encoder; returns the file."""
    import torch
    from diffusers import UNet2DConditionModel
    from diffusers.models.embeddings import ImageProjection, IPAdapterPlusImageProjection
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    unet = UNet2DConditionModel.from_config(UNet2DConditionModel.load_config(model / "unet"))
    words = unet.config.cross_attention_dim
    layers = [module for name, module in unet.named_modules() if name.endswith("attn2")]
    sizes = {"embed_dims": HIDDEN, "output_dims": words, "hidden_dims": 64, "depth": 4, "heads": 1, "num_queries": 5}
    projection: Any = (
        IPAdapterPlusImageProjection(**sizes)
        if plus
        else ImageProjection(image_embed_dim=SEEN, cross_attention_dim=words, num_image_text_embeds=4)
    )
    tensors = {f"image_proj.{published_name(name)}": one for name, one in projection.state_dict().items()}
    for name in [name for name in tensors if ".0.to_k." in name]:
        joined = torch.cat([tensors.pop(name), tensors.pop(name.replace("to_k", "to_v"))])
        tensors[name.replace("to_k", "to_kv")] = joined
    for index, layer in enumerate(layers):
        for part in ("k", "v"):
            name = f"ip_adapter.{2 * index + 1}.to_{part}_ip.weight"
            tensors[name] = torch.randn(layer.inner_dim, words) * 0.3
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "image_encoder").exists():
        write_image_encoder(folder / "image_encoder")
    path = folder / f"ip-adapter{'-plus' * plus}-{seed}.safetensors"
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)
    return path


def published_name(name: str) -> str:
    """The published name of a parameter of diffusers' projections."""
    for new, old in (
        ("image_embeds.", "proj."),
        (".ln0.", ".0.norm1."),
        (".ln1.", ".0.norm2."),
        (".attn.to_out.0.", ".0.to_out."),
        (".attn.to_", ".0.to_"),
        (".ff.0.", ".1.0."),
        (".ff.1.net.0.proj.", ".1.1."),
        (".ff.1.net.2.", ".1.3."),
    ):
        name = name.replace(new, old)
    return name

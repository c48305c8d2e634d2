"""Small random Qwen-Image models for tests."""

from pathlib import Path
from typing import Any

from original_files import seeing_model, wan_vae, weights
from tiny_flow import qwen_tokenizer, qwen_vl, video_autoencoder

_SIZES: dict[str, Any] = {
    "in_channels": 64,
    "out_channels": 16,
    "attention_head_dim": 32,
    "num_attention_heads": 2,
    "joint_attention_dim": 256,
    "axes_dims_rope": (4, 14, 14),
}


def write_tiny_qwen_image(folder: Path, *, seed: int = 0, encoder: Any = None, **others: object) -> Path:
    """Write a diffusers folder; `others` are settings of the transformer."""
    import torch
    from diffusers import QwenImagePipeline

    torch.manual_seed(seed)
    pipeline = QwenImagePipeline(
        scheduler=scheduler(),
        vae=video_autoencoder(2),
        text_encoder=encoder or qwen_vl(),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(**others),
    )
    pipeline.save_pretrained(folder)
    return folder


def write_tiny_qwen_control(folder: Path, *, seed: int = 1, **others: object) -> Path:
    """Write a ControlNet for such a model; `others` are settings of it."""
    import torch
    from diffusers import QwenImageControlNetModel

    torch.manual_seed(seed)
    network = QwenImageControlNetModel(**_SIZES | {"num_layers": 1} | others).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():  # what begins at zero, so that it has an effect
                parameter.normal_(std=0.2)
    network.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """Return a Qwen-Image transformer."""
    from diffusers import QwenImageTransformer2DModel

    return QwenImageTransformer2DModel(**_SIZES | {"num_layers": 2} | others).eval()


def split_files(folder: Path, name: str = "qwen_image_2512_bf16") -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders, with `name` for the transformer."""
    return {
        f"diffusion_models/{name}.safetensors": weights(folder, "transformer"),
        "text_encoders/qwen_2.5_vl_7b.safetensors": seeing_model(folder, "visual."),
        "vae/qwen_image_vae.safetensors": wan_vae(folder),
    }


def scheduler() -> Any:
    """Return a scheduler with Qwen-Image's shift."""
    from diffusers import FlowMatchEulerDiscreteScheduler

    return FlowMatchEulerDiscreteScheduler(
        base_shift=0.5, max_shift=0.9, max_image_seq_len=8192, shift_terminal=0.02, use_dynamic_shifting=True
    )


class Looks:
    """Replacement for the processor of Qwen2.5-VL; transformers' own needs torchvision."""

    def __init__(self, tokenizer: Any) -> None:
        from transformers import Qwen2VLImageProcessorPil

        self.tokenizer, self.image_processor = tokenizer, Qwen2VLImageProcessorPil()

    def __call__(self, *, text: list[str], images: list[Any], padding: bool, return_tensors: str) -> Any:
        """Return the prompt's tokens, with as many placeholders per image as it has patches, and the patches."""
        looked = self.image_processor(images=images, return_tensors=return_tensors)
        for grid in looked.image_grid_thw:
            places = int(grid.prod()) // self.image_processor.merge_size**2
            text = [each.replace("<|image_pad|>", "<|place|>" * places, 1) for each in text]
        text = [each.replace("<|place|>", "<|image_pad|>") for each in text]
        looked.update(self.tokenizer(text, padding=padding, return_tensors=return_tensors))
        return looked


def write_tiny_edit(folder: Path, pipeline: str = "QwenImageEditPlusPipeline", **others: object) -> Path:
    """Write a diffusers folder of a Qwen-Image-Edit model; `others` are settings of the transformer."""
    import json

    place = qwen_tokenizer().convert_tokens_to_ids("<|image_pad|>")
    index = write_tiny_qwen_image(folder, encoder=qwen_vl(image_token_id=place), **others) / "model_index.json"
    told = {"_class_name": pipeline, "processor": ["transformers", "Qwen2VLProcessor"]}
    index.write_text(json.dumps(json.loads(index.read_text()) | told))
    return folder

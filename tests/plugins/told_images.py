"""Images as other programs write them, all with the same settings."""

import json

from PIL import Image, PngImagePlugin

GRAPH = {
    "1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "starter-xl.safetensors"}},
    "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a lighthouse", "clip": ["1", 1]}},
    "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "fog", "clip": ["1", 1]}},
    "4": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 96, "batch_size": 1}},
    "5": {
        "class_type": "KSampler",
        "inputs": {
            "seed": 77, "steps": 9, "cfg": 3.5, "sampler_name": "euler", "scheduler": "karras", "denoise": 1.0,
            "model": ["1", 0], "positive": ["2", 0], "negative": ["3", 0], "latent_image": ["4", 0],
        },
    },
}  # fmt: skip
INVOKE = {
    "app_version": "5.0.0", "generation_mode": "sdxl_txt2img", "positive_prompt": "a lighthouse",
    "negative_prompt": "fog", "width": 64, "height": 96, "seed": 77, "cfg_scale": 3.5, "steps": 9,
    "scheduler": "euler_k", "model": {"name": "starter-xl", "base": "sdxl", "type": "main", "hash": "blake3:0"},
}  # fmt: skip
SWARM = {
    "sui_image_params": {
        "prompt": "a lighthouse", "negativeprompt": "fog", "model": "starter-xl.safetensors", "seed": 77, "steps": 9,
        "cfgscale": 3.5, "width": 64, "height": 96, "sampler": "euler", "scheduler": "karras", "swarm_version": "0.9",
    }
}  # fmt: skip
FOOOCUS = {
    "prompt": "a lighthouse", "negative_prompt": "fog", "base_model": "starter-xl", "seed": "77", "steps": 9,
    "guidance_scale": 3.5, "resolution": "(64, 96)", "sampler": "euler", "scheduler": "karras",
    "version": "Fooocus v2.5",
}  # fmt: skip
A1111 = (
    "a lighthouse\nNegative prompt: fog\nSteps: 9, Sampler: Euler, Schedule type: Karras, CFG scale: 3.5, Seed: 77, "
    "Size: 64x96, Model: starter-xl, Version: v1.10.1"
)
TOLD = {
    "a1111": {"parameters": A1111},
    "comfyui": {"prompt": json.dumps(GRAPH)},
    "invokeai": {"invokeai_metadata": json.dumps(INVOKE)},
    "swarmui": {"parameters": json.dumps(SWARM)},
    "fooocus": {"parameters": json.dumps(FOOOCUS), "fooocus_scheme": "fooocus"},
}


def told_by(program, path):
    """Write an image with that program's metadata."""
    texts = PngImagePlugin.PngInfo()
    for key, text in TOLD[program].items():
        texts.add_text(key, text)
    Image.new("RGB", (64, 96), "grey").save(path, pnginfo=texts)
    return path

"""Published network configurations, and headers of files with such networks, created without weights."""

from pathlib import Path

from mezzotint.checkpoints.header import Header, TensorSpec

# From stable-diffusion-xl-base-1.0; Stable Diffusion 1.5 differs only in scaling factor and sample size.
VAE = {
    "in_channels": 3,
    "out_channels": 3,
    "latent_channels": 4,
    "block_out_channels": [128, 256, 512, 512],
    "layers_per_block": 2,
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "sample_size": 1024,
    "scaling_factor": 0.13025,
    "force_upcast": True,
}
CLIP_L = {
    "vocab_size": 49408,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 77,
    "projection_dim": 768,
    "hidden_act": "quick_gelu",
}


def empty(network_class, config):
    import accelerate

    with accelerate.init_empty_weights():
        if "hidden_size" in config:
            return network_class(network_class.config_class(**config))
        return network_class.from_config(config)


def header_of(shapes):
    specs = {name: TensorSpec(dtype="F16", shape=tuple(shape), start=0, end=0) for name, shape in shapes.items()}
    return Header(path=Path("model.safetensors"), tensors=specs, metadata={}, bytes=0)

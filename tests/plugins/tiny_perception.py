"""Tiny random networks that look at images, written as folders in transformers' layout."""

import json
from pathlib import Path
from typing import Any

import torch

LABELS = ("person", "bicycle", "cat")


def write_detector(folder: Path, labels: tuple[str, ...] = LABELS, **changed: object) -> Any:
    """Write an RT-DETR v2 and return it; its side of input is any multiple of 32."""
    from transformers import RTDetrResNetConfig, RTDetrV2Config, RTDetrV2ForObjectDetection

    backbone = RTDetrResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic", out_indices=[2, 3, 4]
    )
    shape = {
        "backbone_config": backbone,
        "encoder_in_channels": [8, 16, 16],
        "encoder_hidden_dim": 16,
        "encoder_ffn_dim": 16,
        "encoder_attention_heads": 2,
        "d_model": 16,
        "num_queries": 6,
        "decoder_in_channels": [16, 16, 16],
        "decoder_ffn_dim": 16,
        "decoder_layers": 2,
        "decoder_attention_heads": 2,
        "decoder_n_points": 2,
        "id2label": dict(enumerate(labels)),
    }
    return _written(RTDetrV2ForObjectDetection, RTDetrV2Config(**shape | changed), folder)


def write_depth(folder: Path, **changed: object) -> Any:
    """Write a Depth Anything and return it."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config

    backbone = Dinov2Config(
        image_size=56,
        patch_size=14,
        hidden_size=16,
        num_attention_heads=2,
        num_hidden_layers=4,
        out_indices=[1, 2, 3, 4],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    shape = {
        "backbone_config": backbone,
        "reassemble_hidden_size": 16,
        "neck_hidden_sizes": [8, 8, 16, 16],
        "fusion_hidden_size": 8,
        "head_hidden_size": 8,
    }
    return _written(DepthAnythingForDepthEstimation, DepthAnythingConfig(**shape | changed), folder)


def write_poses(folder: Path, joints: int = 17, experts: int = 1) -> Any:
    """Write a ViTPose and return it; its input has 64 x 48 pixels."""
    from transformers import VitPoseBackboneConfig, VitPoseConfig, VitPoseForPoseEstimation

    backbone = VitPoseBackboneConfig(
        image_size=[64, 48],
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_experts=experts,
        part_features=4,
        out_indices=[2],
    )
    config = VitPoseConfig(backbone_config=backbone, num_labels=joints)
    return _written(VitPoseForPoseEstimation, config, folder)


def change_config(folder: Path, **changed: object) -> None:
    """Change settings of a folder's config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def _written(of: Any, config: Any, folder: Path) -> Any:
    from transformers.utils import logging

    logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = of(config).eval()
        for parameter in network.parameters():
            parameter.data = torch.randn_like(parameter) * 0.2
    network.tie_weights()
    network.save_pretrained(folder)
    return network


def write_pointing_detector(folder: Path, label: str = "face", num_queries: int = 1) -> None:
    """Write a detector that finds one object in every image, in its lower right quarter, with a score of 0.88."""
    network = write_detector(folder, (label, "nothing"), num_queries=num_queries)
    for head, bias in (
        (network.model.decoder.class_embed, [2.0, -9.0]),
        (network.model.decoder.bbox_embed, [99.0] * 4),
    ):
        last = head[-1].layers[-1] if hasattr(head[-1], "layers") else head[-1]
        torch.nn.init.zeros_(last.weight)
        last.bias.data = torch.tensor(bias)
    network.save_pretrained(folder)

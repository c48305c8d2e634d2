"""Small random Sana models for tests."""

import io
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from original_files import Tensors, joined, language_model, weights
from tiny_flow import SENTENCES

from mezzotint.families.sana.instruction import INSTRUCTION

_TOKENS = 2000  # enough for each word of the instruction to be one token
NAME, SPRINT = "Sana_1600M_1024px", "Sana_Sprint_1.6B_1024px"
PUBLISHED_HEADS = {  # as no shape shows them
    "num_attention_heads": 7,
    "attention_head_dim": 32,
    "num_cross_attention_heads": 2,
    "cross_attention_head_dim": 112,
    "cross_attention_dim": 224,
}


def write_tiny_sana(folder: Path, *, seed: int = 0, **others: object) -> Path:
    """Write a diffusers folder; `others` are settings of the transformer."""
    import torch
    from diffusers import DPMSolverMultistepScheduler, SanaPipeline

    torch.manual_seed(seed)
    scheduler = DPMSolverMultistepScheduler(use_flow_sigmas=True, flow_shift=3.0, prediction_type="flow_prediction")
    SanaPipeline(**_parts(**others), scheduler=scheduler).save_pretrained(folder)
    return folder


def write_tiny_sprint(folder: Path, *, seed: int = 0, **others: object) -> Path:
    """Write a diffusers folder of Sana Sprint."""
    import torch
    from diffusers import SanaSprintPipeline, SCMScheduler

    torch.manual_seed(seed)
    settings = {"guidance_embeds": True, "qk_norm": "rms_norm_across_heads"} | others
    SanaSprintPipeline(**_parts(**settings), scheduler=SCMScheduler()).save_pretrained(folder)
    return folder


def _parts(**others: object) -> dict[str, Any]:
    return {
        "tokenizer": tokenizer(),
        "text_encoder": gemma2(),
        "vae": deep_autoencoder(),
        "transformer": transformer(**others),
    }


@cache
def pieces() -> bytes:
    """Return a sentencepiece model of byte pairs, with Gemma's special tokens and settings."""
    from sentencepiece import SentencePieceTrainer

    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter([*SENTENCES, *INSTRUCTION.split("\n")]),
        model_writer=written,
        model_type="bpe",
        vocab_size=_TOKENS,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        bos_id=2,
        unk_id=3,
        pad_piece="<pad>",
        eos_piece="<eos>",
        bos_piece="<bos>",
        user_defined_symbols=["<mask>", "<start_of_turn>", "<end_of_turn>", "\n", "\n\n", "▁▁"],
        byte_fallback=True,
        split_digits=True,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def add_vocabulary(writer: Any) -> None:
    """Add the same to a GGUF file, as llama.cpp's conversion does: what is matched first has other scores."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(pieces())
    tokens, scores, kinds = [], [], []
    for piece in model.pieces:
        first = piece.type in (2, 3, 4)
        kind = piece.type if piece.piece not in ("<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>") else 3
        tokens.append(piece.piece.replace("▁", " ") if kind == 4 else piece.piece)
        scores.append(-1000.0 if first else piece.score)
        kinds.append(kind)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)


def tokenizer(model: bytes | None = None) -> Any:
    """Return the tokenizer that transformers makes of a sentencepiece model."""
    from transformers import GemmaTokenizer
    from transformers.convert_slow_tokenizer import SentencePieceExtractor

    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.model"
        path.write_bytes(model or pieces())
        made = SentencePieceExtractor(str(path)).extract(None)
    learned = GemmaTokenizer(vocab=made["vocab"], merges=made["merges"], add_bos_token=True)
    learned.add_tokens(made["additional_special_tokens"])
    return learned


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    import torch

    config = json.loads((folder / "transformer" / "config.json").read_text())
    name = SPRINT if config["guidance_embeds"] else NAME
    encoder = language_model(folder) | {"spiece_model": torch.frombuffer(bytearray(pieces()), dtype=torch.uint8)}
    return {
        f"diffusion_models/{name}.safetensors": original_transformer(
            weights(folder, "transformer"), config["sample_size"]
        ),
        "text_encoders/gemma_2_2b_it_elm_bf16.safetensors": encoder,
        "vae/dc-ae-f32c32-sana-1.0.safetensors": original_autoencoder(weights(folder, "vae")),
    }


_FIRST_NAMES = {
    "patch_embed.": "x_embedder.",
    "time_embed.emb.timestep_embedder.linear_1.": "t_embedder.mlp.0.",
    "time_embed.emb.timestep_embedder.linear_2.": "t_embedder.mlp.2.",
    "time_embed.timestep_embedder.linear_1.": "t_embedder.mlp.0.",  # Sprint
    "time_embed.timestep_embedder.linear_2.": "t_embedder.mlp.2.",
    "time_embed.guidance_embedder.linear_1.": "cfg_embedder.mlp.0.",
    "time_embed.guidance_embedder.linear_2.": "cfg_embedder.mlp.2.",
    "time_embed.linear.": "t_block.1.",
    "caption_projection.linear_": "y_embedder.y_proj.fc",
    "caption_norm.": "attention_y_norm.",
    "proj_out.": "final_layer.linear.",
    "transformer_blocks.": "blocks.",
    ".attn1.to_out.0.": ".attn.proj.",
    ".attn1.norm_q.": ".attn.q_norm.",
    ".attn1.norm_k.": ".attn.k_norm.",
    ".attn2.to_q.": ".cross_attn.q_linear.",
    ".attn2.to_out.0.": ".cross_attn.proj.",
    ".attn2.norm_q.": ".cross_attn.q_norm.",
    ".attn2.norm_k.": ".cross_attn.k_norm.",
    ".ff.conv_inverted.": ".mlp.inverted_conv.conv.",
    ".ff.conv_depth.": ".mlp.depth_conv.conv.",
    ".ff.conv_point.": ".mlp.point_conv.conv.",
}


def original_transformer(tensors: Tensors, side: int) -> dict[str, Any]:
    """Return a transformer for `side` latents with its original key names, and what its files have beside it."""
    import torch

    whole = joined(tensors, tuple(f".attn1.to_{part}." for part in "qkv"), ".attn.qkv.")
    whole = joined(whole, (".attn2.to_k.", ".attn2.to_v."), ".cross_attn.kv_linear.")
    named = {_replaced(name, _FIRST_NAMES): each for name, each in whole.items()}
    named["final_layer.scale_shift_table"] = named.pop("scale_shift_table")
    width = named["x_embedder.proj.bias"].shape[0]
    named["pos_embed"] = torch.zeros(1, side**2, width)
    named["y_embedder.y_embedding"] = torch.zeros(300, named["y_embedder.y_proj.fc1.weight"].shape[1])
    return named


def original_autoencoder(tensors: Tensors) -> dict[str, Any]:
    """Return an autoencoder with its original key names."""
    whole = joined(tensors, tuple(f".attn.to_{part}." for part in "qkv"), ".attn.qkv.conv.")
    return {_dc_name(name): each[:, :, None, None] if each.ndim == 2 else each for name, each in whole.items()}


_DC_NAMES = {
    "encoder.conv_in.": "encoder.project_in.conv.",
    "encoder.conv_out.": "encoder.project_out.main.op_list.0.conv.",
    "decoder.conv_in.": "decoder.project_in.main.conv.",
    "decoder.norm_out.": "decoder.project_out.op_list.0.",
    "decoder.conv_out.": "decoder.project_out.op_list.2.conv.",
    "encoder.down_blocks.": "encoder.stages.",
    "decoder.up_blocks.": "decoder.stages.",
    ".attn.to_qkv_multiscale.0.proj_in.": ".context_module.main.aggreg.0.0.",
    ".attn.to_qkv_multiscale.0.proj_out.": ".context_module.main.aggreg.0.1.",
    ".attn.to_out.": ".context_module.main.proj.conv.",
    ".attn.norm_out.": ".context_module.main.proj.norm.",
    ".attn.": ".context_module.main.",
    ".conv_out.conv_": ".local_module.main.conv_",
    ".conv_out.norm.": ".local_module.main.point_conv.norm.",
    ".conv_inverted.": ".inverted_conv.conv.",
    ".conv_depth.": ".depth_conv.conv.",
    ".conv_point.": ".point_conv.conv.",
}


def _dc_name(name: str) -> str:
    name = _replaced(name, _DC_NAMES)
    stage = re.match(r"(?:en|de)coder\.stages\.\d+\.", name)
    if not stage:
        return name
    name = stage[0] + "op_list." + name.removeprefix(stage[0])
    name = re.sub(r"(op_list\.\d+)\.(conv[12])\.", r"\1.main.\2.conv.", name)
    name = re.sub(r"(op_list\.\d+)\.norm\.", r"\1.main.conv2.norm.", name)
    inner = "main.conv.conv." if name.startswith("decoder.") else "main.conv."
    return re.sub(r"(op_list\.\d+)\.conv\.", rf"\1.{inner}", name)


def _replaced(name: str, names: Mapping[str, str]) -> str:
    for new, old in names.items():
        name = name.replace(new, old)
    return name


def gemma2() -> Any:
    """Return a Gemma 2 language model without its head."""
    from transformers import Gemma2Config, Gemma2Model

    config = Gemma2Config(
        vocab_size=_TOKENS,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=256,
        max_position_embeddings=4096,
    )
    return Gemma2Model(config).eval()


def deep_autoencoder() -> Any:
    """Return an AutoencoderDC, 32 pixels per latent."""
    from diffusers import AutoencoderDC

    return AutoencoderDC(
        latent_channels=32,
        attention_head_dim=8,
        encoder_block_types=("ResBlock",) * 5 + ("EfficientViTBlock",),
        decoder_block_types=("ResBlock",) * 5 + ("EfficientViTBlock",),
        encoder_block_out_channels=(8, 8, 8, 16, 16, 32),
        decoder_block_out_channels=(8, 8, 8, 16, 16, 32),
        encoder_layers_per_block=(1,) * 6,
        decoder_layers_per_block=(1,) * 6,
        encoder_qkv_multiscales=((),) * 5 + ((5,),),
        decoder_qkv_multiscales=((),) * 5 + ((5,),),
        decoder_norm_types="rms_norm",
        decoder_act_fns="silu",
        upsample_block_type="interpolate",
        scaling_factor=0.41407,
    ).eval()


def transformer(**others: object) -> Any:
    """Return a Sana transformer."""
    from diffusers import SanaTransformer2DModel

    settings: dict[str, Any] = {
        "in_channels": 32,
        "out_channels": 32,
        "num_attention_heads": 4,
        "attention_head_dim": 8,
        "num_layers": 2,
        "num_cross_attention_heads": 2,
        "cross_attention_head_dim": 16,
        "cross_attention_dim": 32,
        "caption_channels": 32,
        "sample_size": 4,
    }
    return SanaTransformer2DModel(**settings | others).eval()

"""Text encoders that FLUX.1, Chroma and Stable Diffusion 3 share: CLIP-L and the encoder of T5 v1.1."""

from collections.abc import Mapping
from dataclasses import replace

from mezzotint.families.flow.original import OriginalNetwork, Shapes, config_by, count, renamed
from mezzotint.families.flow.parts import PartNeeded
from mezzotint.families.loading.original_unet import text_config

_WHERE = "https://huggingface.co/comfyanonymous/flux_text_encoders"


# ---- CLIP


def _clip_config(shapes: Shapes) -> Mapping[str, object]:
    vocabulary, width = shapes["embeddings.token_embedding.weight"]
    return text_config(
        "CLIPTextModel",
        vocabulary,
        width,
        positions=shapes["embeddings.position_embedding.weight"][0],
        inner=shapes["encoder.layers.0.mlp.fc1.weight"][0],
        layers=count(shapes, r"encoder\.layers\.(\d+)\."),
        projection=width,
    )


CLIP = OriginalNetwork(
    name="a text encoder of CLIP",
    library="transformers",
    class_name="CLIPTextModel",
    marks=(
        r"encoder\.layers\.0\.self_attn\.q_proj\.weight$",
        r"embeddings\.token_embedding\.weight$",
        r"final_layer_norm\.weight$",
    ),
    prefixes=(r"(?:text_encoders\.clip_l\.transformer\.)?(?:text_model\.)?",),
    config=_clip_config,
    dropped=("embeddings.position_ids", "text_projection.", "logit_scale"),
)


# ---- T5


def _t5_config(shapes: Shapes) -> Mapping[str, object]:
    """T5's configuration; values that shapes do not show are those of google/t5-v1_1-xxl's config.json."""
    vocabulary, width = shapes["shared.weight"]
    attention = "encoder.block.0.layer.0.SelfAttention."
    buckets, heads = shapes[f"{attention}relative_attention_bias.weight"]
    return {
        "architectures": ["T5EncoderModel"],
        "model_type": "t5",
        "vocab_size": vocabulary,
        "d_model": width,
        "d_kv": shapes[f"{attention}q.weight"][0] // heads,
        "d_ff": shapes["encoder.block.0.layer.1.DenseReluDense.wi_0.weight"][0],
        "num_layers": count(shapes, r"encoder\.block\.(\d+)\."),
        "num_heads": heads,
        "relative_attention_num_buckets": buckets,
        "relative_attention_max_distance": 128,
        "layer_norm_epsilon": 1e-6,
        "feed_forward_proj": "gated-gelu",
        "is_encoder_decoder": False,
        "tie_word_embeddings": True,  # makes the encoder use `shared`
    }


T5 = OriginalNetwork(
    name="a text encoder of T5",
    library="transformers",
    class_name="T5EncoderModel",
    marks=(
        r"encoder\.block\.0\.layer\.1\.DenseReluDense\.wi_1\.weight$",
        r"encoder\.final_layer_norm\.weight$",
        r"shared\.weight$",
    ),
    absent=(r"block\.1\.layer\.0\.SelfAttention\.relative_attention_bias\.",),  # UMT5's, of the same width
    prefixes=("", r"text_encoders\.\w+\.transformer\."),
    config=_t5_config,
    dropped=("encoder.embed_tokens.", "decoder.", "lm_head."),
)
_EMBED_TOKENS = ((r"^encoder\.embed_tokens\.", "shared."),)
T5_WITHOUT_SHARED = replace(
    T5,
    name="a text encoder of T5 that names its embeddings as the encoder's",
    marks=(*T5.marks[:2], r"encoder\.embed_tokens\.weight$"),
    absent=(*T5.absent, r"(^|\.)shared\.weight$"),
    config=config_by(_t5_config, _EMBED_TOKENS),
    renames=_EMBED_TOKENS,
    dropped=("decoder.", "lm_head."),
)

_GGUF_NAMES = (
    (r"^token_embd\.", "shared."),
    (r"^enc\.output_norm\.", "encoder.final_layer_norm."),
    (r"^enc\.blk\.", "encoder.block."),
    (r"\.attn_([qkvo])\.", r".layer.0.SelfAttention.\1."),
    (r"\.attn_rel_b\.", ".layer.0.SelfAttention.relative_attention_bias."),
    (r"\.attn_norm\.", ".layer.0.layer_norm."),
    (r"\.ffn_norm\.", ".layer.1.layer_norm."),
    (r"\.ffn_gate\.", ".layer.1.DenseReluDense.wi_0."),
    (r"\.ffn_up\.", ".layer.1.DenseReluDense.wi_1."),
    (r"\.ffn_down\.", ".layer.1.DenseReluDense.wo."),
)


def _t5_gguf_config(shapes: Shapes) -> Mapping[str, object]:
    return _t5_config({renamed(name, _GGUF_NAMES)[0][0]: shape for name, shape in shapes.items()})


T5_GGUF = OriginalNetwork(
    name="a text encoder of T5 as llama.cpp names it",
    library="transformers",
    class_name="T5EncoderModel",
    marks=(r"enc\.blk\.0\.ffn_gate\.weight$", r"enc\.output_norm\.weight$", r"token_embd\.weight$"),
    absent=(r"enc\.blk\.1\.attn_rel_b\.",),  # UMT5's
    architectures=("t5", "t5encoder"),
    config=_t5_gguf_config,
    renames=_GGUF_NAMES,
    dropped=("dec.", "output."),
)

# ---- components for families

CLIP_L = PartNeeded(
    component="text_encoder",
    networks=(CLIP,),
    width="pooled_projection_dim",
    usual=((None, "clip_l.safetensors"),),
    where=_WHERE,
)
T5_XXL = PartNeeded(
    component="text_encoder",
    networks=(T5, T5_WITHOUT_SHARED, T5_GGUF),
    width="joint_attention_dim",
    usual=((None, "t5xxl_fp16.safetensors"),),
    where=_WHERE,
)
SECOND_T5_XXL = replace(T5_XXL, component="text_encoder_2")

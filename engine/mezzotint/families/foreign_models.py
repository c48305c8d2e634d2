"""The names of models that cannot be run, by tensors that only their files have: a line each, specific ones first.

Names are matched after any prefix (`model.diffusion_model.`, `net.`, `transformer.`), in the original naming and in
that of diffusers; tensor names as documented in ComfyUI's model detection and in diffusers' networks.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignModel:
    """A model: the beginnings of names that its file has, all of them, and of those that it has not."""

    title: str  # with its article
    has: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    architecture: str = ""  # general.architecture of its GGUF
    resembles: bool = False  # a model that can be run, and would be taken for it

    def is_in(self, text: "_Names") -> bool:
        """Whether a file with these names is of it."""
        return bool(self.has) and all(map(text.has, self.has)) and not any(map(text.has, self.lacks))


def _model(
    title: str, *has: str, lacks: tuple[str, ...] = (), architecture: str = "", resembles: bool = False
) -> ForeignModel:
    return ForeignModel(title=title, has=has, lacks=lacks, architecture=architecture, resembles=resembles)


FOREIGN_MODELS: tuple[ForeignModel, ...] = (
    _model("a Qwen-Image-2.1 model", "txt_in.text_norm.", "modulation.1."),
    _model("a Qwen-Image-Layered model", "time_text_embed.addition_t_embedding.", resembles=True),
    _model("an Anima model", "llm_adapter.blocks.0.cross_attn."),
    _model("a Cosmos Predict 2 model", "blocks.0.mlp.layer1.", "blocks.0.cross_attn.", architecture="cosmos"),
    _model("a Cosmos model", "blocks.block0.blocks.0.block.attn."),
    _model("a FLUX.3 Image model", "early_stream_modulations.image."),
    _model("a FLUX.3 model of video or actions", "early_stream_modulations."),
    _model("a Chroma1-Radiance model", "nerf_blocks.0.", resembles=True),
    _model("an Ovis-Image model", "double_blocks.0.img_mlp.gate_proj."),
    _model("a HunyuanVideo model", "individual_token_refiner.blocks.0.", "vision_in.", architecture="hyvid"),
    _model("a HunyuanVideo model", "individual_token_refiner.blocks.0.", "vector_in."),
    _model("a HunyuanImage 2.1 model", "individual_token_refiner.blocks.0."),
    _model("a HunyuanImage or HunyuanVideo model", "context_embedder.token_refiner.refiner_blocks.0."),
    _model(
        "a LongCat-Image model",
        "double_blocks.0.",
        "txt_in.",
        lacks=("vector_in.", "distilled_guidance_layer.", "double_stream_modulation_img."),
    ),
    _model("an ERNIE-Image model", "layers.0.adaLN_sa_ln.", "layers.0.self_attention."),
    _model("an Ideogram 4 model", "embed_image_indicator."),
    _model("a NewBie model", "clip_text_pooled_proj.", "cap_embedder.", resembles=True),
    _model("a Z-Image-Omni model", "siglip_embedder.", "cap_embedder.", resembles=True),
    _model("a Z-Image L2P model of pixels", "dec_net.cond_embed.", "cap_embedder.", resembles=True),
    _model(
        "a Lumina 2 model, or of its layout (NetaYume, Ming-Image)",
        "cap_embedder.",
        "noise_refiner.0.",
        lacks=("cap_pad_token",),
        architecture="lumina2",
    ),
    _model("a Lumina 2 model", "time_caption_embed.caption_embedder.", lacks=("ref_image_refiner.",)),
    _model("an OmniGen 2 model", "time_caption_embed.", "ref_image_refiner.0."),
    _model("an OmniGen model", "time_token.", "input_x_embedder."),
    _model("an OmniGen model", "time_token.", "patch_embedding.input_image_proj."),
    _model("a HiDream-I1 model", "double_stream_blocks.0.", "caption_projection.0.", architecture="hidream"),
    _model("a HiDream-O1 model", "t_embedder1.", "x_embedder.proj1."),
    _model("a Bria FIBO model", "caption_projection.0.", "single_transformer_blocks.0."),
    _model("a Wan video model", "blocks.0.cross_attn.", "text_embedding.0.", "head.modulation", architecture="wan"),
    _model("a Wan video model", "condition_embedder.time_embedder.", "blocks.0.attn2.", "scale_shift_table"),
    _model("a MOSS-Image model", architecture="moss_image"),
    _model("a Kandinsky 5 model", "visual_transformer_blocks.0.cross_attention."),
    _model("a Kandinsky 6 model", "visual_embeddings.in_layer."),
    _model("a PRX model", "blocks.0.attention.img_qkv_proj."),
    _model("a PRX model", "blocks.0.img_qkv_proj."),
    _model("a Stable Cascade model (stage C)", "clip_txt_mapper."),
    _model("a Stable Cascade model (stage B)", "effnet_mapper.0."),
    _model("an AuraFlow model", "double_layers.0.attn.w1q.", architecture="aura"),
    _model("an AuraFlow model", "joint_transformer_blocks.0."),
    _model("a GLM-Image model", "prior_token_embedding."),
    _model("a CogView 3 or 4 model", "time_condition_embed.", "patch_embed.text_proj."),
    _model("a CogVideoX model", "patch_embed.text_proj.", "transformer_blocks.0."),
    _model("a HunyuanDiT model", "mlp_t5.0."),
    _model("a HunyuanDiT model", "time_extra_emb.", "text_embedding_padding"),
    _model("a Kolors model", "encoder_hid_proj."),
    _model("an LTX video model", "patchify_proj.", "adaln_single.", architecture="ltxv"),
    _model("an LTX video model", "proj_in.", "scale_shift_table", "time_embed.emb.timestep_embedder."),
    _model("a Mochi video model", "t5_yproj."),
    _model("a Mochi video model", "time_embed.pooler.", "pos_frequencies"),
    _model("a MiniMax-H3 model", "adaln_t_table"),
)


def foreign_model(names: Iterable[str], architecture: str = "") -> str | None:
    """The model that a file with these tensor names is of, with its article; None if it is none of the table."""
    of_gguf = next((each.title for each in FOREIGN_MODELS if architecture and each.architecture == architecture), None)
    text = _Names(names)
    return of_gguf or next((each.title for each in FOREIGN_MODELS if each.is_in(text)), None)


def resembling_model(names: Iterable[str]) -> str | None:
    """Like `foreign_model`, only of those that a model that can be run would be taken for."""
    text = _Names(names)
    return next((each.title for each in FOREIGN_MODELS if each.resembles and each.is_in(text)), None)


class _Names:
    """Tensor names, to be searched for beginnings after any prefix."""

    def __init__(self, names: Iterable[str]) -> None:
        self._text = "".join(f"\n.{name}" for name in names)

    def has(self, start: str) -> bool:
        """Whether a name begins so, or after a prefix."""
        return f".{start}" in self._text

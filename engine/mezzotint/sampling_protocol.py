"""Protocol types for sampling: every option, declared at the field for its value. Standard library only.

To add one: a field here, its implementation, a test. Command line, job files, tables, the matrix, window, metadata
and manual then have it.
"""

from dataclasses import dataclass, fields
from typing import Literal

from mezzotint.option import declared, option, translate
from mezzotint.values.basic import Integer, Interval, Number, Text, YesNo, one_of
from mezzotint.values.sizes import TileSide
from mezzotint.values.speed import (
    CacheThreshold,
    DeepShrink,
    DeepShrinkValue,
    SparseAttention,
    SparseAttentionValue,
    TokenReduction,
    TokenReductionValue,
)

PredictionType = Literal["epsilon", "v_prediction", "flow_prediction"]

# Our names and display names. Every sampler runs every schedule (`families/sigma_schedules.py`).
SAMPLERS = {
    "euler": "Euler",
    "euler_a": "Euler a",
    "heun": "Heun",
    "dpmpp_2m": "DPM++ 2M",
    "dpmpp_2m_sde": "DPM++ 2M SDE",
    "ddim": "DDIM",
    "unipc": "UniPC",
    "lcm": "LCM",
}
SCHEDULES = {
    "normal": "Normal",
    "karras": "Karras",
    "exponential": "Exponential",
    "sgm_uniform": "SGM Uniform",
    "simple": "Simple",
    "beta": "Beta",
    "kl_optimal": "KL Optimal",
}

CONDITION_NOISE = 0.1
_OWN = "the model's"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a stage samples; `None` is the checkpoint's default."""

    # Of the whole schedule, of which a stage may run a part.
    steps: int | None = option(
        None,
        "steps",
        Integer(1, 1000, 20, usual=60),
        group="sampling",
        help=translate("Options", "more steps take longer and gain little beyond the model default"),
        default=_OWN,
        label=translate("Options", "Steps"),
        unset=30,
    )
    guidance_scale: float | None = option(
        None,
        "guidance",
        Number(0, 100, 5, usual=15, step=0.1, metavar="G"),
        group="sampling",
        help=translate(
            "Options", "CFG scale: how closely the prompt is followed; at 1 or less the negative prompt is ignored"
        ),
        unset=5.0,
        default=_OWN,
        label=translate("Options", "CFG scale"),
    )
    # `true_cfg_scale` of diffusers; without distilled guidance it takes the place of `guidance_scale`
    true_cfg_scale: float | None = option(
        None,
        "true-cfg",
        Number(0, 100, 2, usual=15, step=0.1, metavar="G"),
        group="sampling",
        scope="stage",
        help=translate(
            "Options",
            "true CFG: the CFG scale of models whose guidance is distilled, such as FLUX.1 dev, beside that guidance; "
            "above 1 the negative prompt counts, and each step takes twice the time",
        ),
        default="1, with distilled guidance",
        label=translate("Options", "True CFG"),
        unset=1.0,
    )
    # The part of the schedule with guidance, arXiv 2404.07724
    cfg_interval: tuple[float, float] | None = option(
        None,
        "cfg-interval",
        Interval(),
        group="sampling",
        help=translate(
            "Options",
            "CFG interval: guide only between these two parts of the schedule; the steps outside take half the time",
        ),
        default="0:1",
        label=translate("Options", "CFG interval"),
        unset=(0.0, 1.0),
    )
    sampler: str | None = option(
        None,
        "sampler",
        Text(200, metavar="NAME"),
        group="sampling",
        help=translate("Options", "the sampling method"),
        names=tuple(SAMPLERS),
        default=_OWN,
        label=translate("Options", "Sampler"),
    )
    schedule: str | None = option(
        None,
        "schedule",
        Text(200, metavar="NAME"),
        group="sampling",
        help=translate("Options", "how the noise levels of the steps are spaced"),
        names=("default", *SCHEDULES),
        default=_OWN,
        label=translate("Options", "Schedule"),
    )
    # phi of arXiv 2305.08891
    guidance_rescale: float | None = option(
        None,
        "guidance-rescale",
        Number(0, 1, 0.7),
        group="sampling",
        scope="stage",
        help=translate("Options", "CFG rescale, against overexposure at a high CFG scale"),
        default=_OWN,
        label=translate("Options", "CFG rescale"),
    )
    # 0: the encoder's usual layer; n: n layers earlier
    clip_skip: int | None = option(
        None,
        "clip-skip",
        Integer(0, 31, 1, usual=10),
        group="sampling",
        scope="model",
        help=translate("Options", "use the text encoder's output this many layers earlier"),
        default="0",
        label=translate("Options", "Clip skip"),
    )
    # Start noise between those of two seeds, by spherical interpolation
    variation_seed: int | None = option(
        None,
        "variation-seed",
        Integer(0, 2**63 - 1, 8),
        group="image",
        scope="stage",
        help=translate("Options", "seed of the noise that is blended in with --variation-strength"),
        default="0",
        label=translate("Options", "Variation seed"),
    )
    variation_strength: float | None = option(
        None,
        "variation-strength",
        Number(0, 1, 0.15),
        group="image",
        scope="stage",
        help=translate(
            "Options",
            "how far the start noise moves from that of the seed to that of the variation seed: about 0.1 to 0.3 for "
            "variations of one image",
        ),
        default="0",
        label=translate("Options", "Variation strength"),
    )
    prediction_type: PredictionType | None = option(
        None,
        "prediction-type",
        one_of(PredictionType),
        group="sampling",
        scope="model",
        help="override what the model's files say",
    )
    zero_terminal_snr: bool | None = option(
        None,
        "zero-terminal-snr",
        YesNo(),
        group="sampling",
        scope="model",
        help="override what the model's files say",
    )
    # ToDo, arXiv 2402.13573; ToMe, arXiv 2303.17604
    tokens: TokenReduction | None = option(
        None,
        "tokens",
        TokenReductionValue(),
        group="performance",
        help=translate(
            "Options",
            "token reduction: less attention at high resolutions; todo keeps a quarter of the keys and values, merge "
            "joins the most similar half of the tokens; changes details",
        ),
        default="off",
        label=translate("Options", "Token reduction"),
        unset=None,
    )
    # Sol-Attn; block-aligned GNA, arXiv 2504.16922; SpargeAttention's selection, arXiv 2502.18137; HyperTile
    sparse_attention: SparseAttention | None = option(
        None,
        "sparse-attention",
        SparseAttentionValue(),
        group="performance",
        help=translate(
            "Options",
            "sparse attention: each tile of the image sees a part of the others; pooled chooses the most similar ones "
            "and sees the means of the rest, window takes the nearest, topk drops the rest; tiles divides the image "
            "into large tiles that see only themselves (HyperTile); changes details, and does nothing below 10,000 "
            "image tokens unless a density is given",
        ),
        default="off",
        label=translate("Options", "Sparse attention"),
        unset=None,
    )
    deep_shrink: DeepShrink | None = option(
        None,
        "deep-shrink",
        DeepShrinkValue(),
        group="performance",
        scope="stage",
        help=translate(
            "Options",
            "deep shrink: divide the size inside the U-Net during the first third of the schedule; faster, and "
            "without repeated subjects in images larger than the model was trained for",
        ),
        default="off",
        label=translate("Options", "Deep shrink"),
        unset=None,
    )
    # First-block cache, cf. TeaCache, arXiv 2411.19108; of U-Nets DeepCache, arXiv 2312.00858; AUTO_CACHE: auto
    step_cache: float | None = option(
        None,
        "step-cache",
        CacheThreshold(),
        group="performance",
        help=translate(
            "Options",
            "step cache: reuse the last step's result of a denoiser's blocks while the first of them changes less than "
            "this, such as 0.1; auto is 0.1 for transformers and 0.2 for U-Nets; pays from about 20 steps",
        ),
        default="off",
        label=translate("Options", "Step cache"),
    )
    # MultiDiffusion, arXiv 2302.08113; AUTO_TILE: as planned
    denoise_tile: int | None = option(
        None,
        "denoise-tile",
        TileSide(),
        group="performance",
        help=translate(
            "Options",
            "denoising tiles: where an image is enlarged, by the hires fix or from an init image, denoise it in "
            "overlapping tiles of this size, blended in each step, so that far larger images fit the card; auto plans "
            "the size; each tile has the whole prompt, so that a strength above 0.3 may repeat subjects",
        ),
        default="off",
        label=translate("Options", "Denoising tiles"),
        unset=None,
    )
    # Noise conditioning augmentation, arXiv 2106.15282
    condition_noise: float | None = option(
        None,
        "condition-noise",
        Number(0, 1, 0.1),
        group="refiner and hires fix",
        scope="refining",
        help="noise added to the smaller image that a conditional refiner is given: more lets it change more",
        default=str(CONDITION_NOISE),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSampling(Sampling):
    """Sampling with every value resolved."""

    sampler: str
    schedule: str
    steps: int
    guidance_scale: float
    guidance_rescale: float
    clip_skip: int
    prediction_type: PredictionType
    zero_terminal_snr: bool


def both_guidances(cfg: float | None, distilled: float | None) -> tuple[float | None, float | None]:
    """Our `guidance_scale` and `true_cfg_scale` for the CFG scale and distilled guidance of other programs.

    A CFG scale of 1 alone is no guidance, whatever the model: no network is given that number.
    """
    is_off = cfg is not None and 0 <= cfg <= 1
    return (distilled, cfg) if distilled is not None or is_off else (cfg, None)


def shared_with_refiner(sampling: Sampling) -> Sampling:
    """The sampling options that a refiner shares: all but those that describe the denoiser."""
    shared = (name for name, one in declared(Sampling).items() if one.scope == "cascade")
    return Sampling(**{name: getattr(sampling, name) for name in shared})


def sampling_of(values: object) -> Sampling:
    """Collect the Sampling fields of an object that has them all."""
    return Sampling(**{one.name: getattr(values, one.name) for one in fields(Sampling)})

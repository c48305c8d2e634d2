"""Tensor names of Chroma's transformer in its original release: FLUX.1's blocks, and one shared modulation network."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count
from mezzotint.families.flux1.names import BLOCK_RENAMES, JOINED, block_config

_RENAMES = (
    *BLOCK_RENAMES,
    (r"^(distilled_guidance_layer\.layers\.\d+)\.in_layer\.", r"\1.linear_1."),
    (r"^(distilled_guidance_layer\.layers\.\d+)\.out_layer\.", r"\1.linear_2."),
    (r"^(distilled_guidance_layer\.norms\.\d+)\.scale$", r"\1.weight"),
)


def _config(shapes: Shapes) -> Mapping[str, object]:
    hidden, channels = shapes["distilled_guidance_layer.in_proj.weight"]
    return {
        "_class_name": "ChromaTransformer2DModel",
        **block_config(shapes),
        "approximator_num_channels": channels,
        "approximator_hidden_dim": hidden,
        "approximator_layers": count(shapes, r"distilled_guidance_layer\.layers\.(\d+)\."),
    }


TRANSFORMER = OriginalNetwork(
    name="Chroma's transformer",
    library="diffusers",
    class_name="ChromaTransformer2DModel",
    marks=(
        r"distilled_guidance_layer\.in_proj\.weight$",
        r"single_blocks\.0\.linear1\.weight$",
        r"img_in\.weight$",
    ),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=JOINED,
)

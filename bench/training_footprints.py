"""Generate the bundled laws of training memory: `python bench/training_footprints.py [NAME ...]`.

Traces training steps of the public configurations in `footprint_models.json`, without weights, and writes to
`engine/mezzotint/training/planning/data`. Each takes minutes.
"""

import functools
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from footprints import RECIPES, call_of, empty_network
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.memory.footprints.component import role_of
from mezzotint.memory.footprints.fitting import Point, fit
from mezzotint.memory.footprints.footprint import ScalingLaw, Scheme
from mezzotint.memory.footprints.footprint_json import law_to_json
from mezzotint.memory.footprints.forward_calls import known_call
from mezzotint.memory.footprints.graph_hash import graph_hash
from mezzotint.quantization.branched import weight_shape
from mezzotint.training.adapters.layers import trainable_layers
from mezzotint.training.planning.known import laws_to_json
from mezzotint.training.planning.needs import StepLaws
from mezzotint.training.planning.planner import BY_BLOCKS, MODES
from mezzotint.training.planning.step_tracing import quantized_empty, traced_encoding, traced_step

DATA = Path(__file__).parents[1] / "engine" / "mezzotint" / "training" / "planning" / "data"
NAMES = ("sdxl", "z-image", "flux2-klein-4b", "flux", "qwen-image")
RANK = 16
SIDE = 1024  # pixels
EXTRA: tuple[Scheme, ...] = ("int8-weight", "int4", "int8", "int4-lowrank")
DYNAMIC = ("int8", "int4-lowrank")  # what they need beside grows with the image


def main(names: list[str]) -> int:
    """Generate the named laws, or all."""
    recipes = json.loads(RECIPES.read_text("utf-8"))
    for name in names or NAMES:
        started = time.monotonic()
        told = traced_model(recipes["models"][name], recipes["parts"])
        text = json.dumps(told, separators=(",", ":")) + "\n"
        (DATA / f"{name}.training.json").write_text(text, "utf-8")
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    return 0


def traced_model(model: Mapping[str, Any], recipes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the laws of a public configuration as JSON."""
    vae = recipes[model["components"]["vae"]]
    latents = latent_layout({**vae["config"], "_class_name": vae["class"]})
    part = next(recipes[each] for each in model["components"].values() if role_of(recipes[each]["class"]) == "denoiser")
    class_name, config = part["class"], part["config"]
    call = call_of(model["family"], class_name, config, latents.channels) or functools.partial(known_call, class_name)
    side, tokens = SIDE // latents.factor, model["tokens"]

    def traced(network: Any, mode: str, side: int, batch: int, *, offloads: bool = False) -> float:
        found = traced_step(
            network,
            call,
            side=side,
            batch=batch,
            tokens=tokens,
            rank=RANK,
            checkpointing=mode,  # type: ignore[arg-type]
            offloads=offloads,
        )
        print(
            f"  {class_name} {mode}{' offloaded' if offloads else ''} {side} x {batch}: {found / 2**30:.3f} GiB",
            flush=True,
        )
        return found

    plain = empty_network(class_name, config)
    sizes = [(side // 2, 1), (side, 1), (side // 2, 2)]

    def fitted(mode: str, *, offloads: bool = False) -> ScalingLaw:
        points = [Point(positions=a * a, batch=b, value=traced(plain, mode, a, b, offloads=offloads)) for a, b in sizes]
        return fit(points, squared=False)

    live = {mode: fitted(mode) for mode in MODES}
    offloaded = {mode: fitted(mode, offloads=True) for mode in BY_BLOCKS}
    base, extra = traced(plain, "blocks", side // 2, 1), {}
    for scheme in EXTRA:
        network = quantized_empty(empty_network(class_name, config), scheme)
        more = max(0.0, traced(network, "blocks", side // 2, 1) - base)
        per = scheme in DYNAMIC
        extra[scheme] = ScalingLaw(per_position=4 * more / side**2) if per else ScalingLaw(constant=math.ceil(more))
    shapes = [tuple(weight_shape(plain.get_submodule(name))) for name in trainable_layers(plain)]
    laws = StepLaws(rank=RANK, layers=tuple(Counter(shapes).items()), live=live, extra=extra, offloaded=offloaded)
    encoding = traced_encoding(empty_network(vae["class"], vae["config"]), SIDE, SIDE)
    return {
        "source": model["source"],
        "graph": graph_hash(class_name, config, tokens),
        **laws_to_json(laws),
        "encoding": law_to_json(ScalingLaw(per_position=encoding / side**2)),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

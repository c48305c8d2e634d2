"""Models as training plans see them: from the laws that come with the program, or traced."""

import functools
import importlib.util
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from mezzotint.families.family import ModelSources
from mezzotint.families.footprints import denoiser_call, footprint_of, graph_of, prompt_tokens
from mezzotint.families.known import family_of
from mezzotint.memory.footprints.footprint import ModelFootprint, ScalingLaw
from mezzotint.memory.footprints.footprint_json import law_from_json, law_to_json
from mezzotint.memory.footprints.traced_cache import TracedCache
from mezzotint.memory.planning.task import DType
from mezzotint.training.planning.needs import KnownDenoiser, Remember, StepLaws, TracedDenoiser, traced_anew
from mezzotint.training.planning.task import TrainingModel

_SUFFIX = ".training.json"
_TRACES = 1  # increases when traces of the same network give other numbers


@functools.cache
def known_names() -> tuple[str, ...]:
    """Names of the models with laws."""
    folder = resources.files("mezzotint.training.planning") / "data"
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if path.name.endswith(_SUFFIX)))


def known_model(footprint: ModelFootprint, dtype: DType) -> TrainingModel | None:
    """A model whose footprint comes with the program, without any files; None if there are no laws for it."""
    if footprint.id not in known_names():
        return None
    told = _read(footprint.id)
    return TrainingModel(
        footprint=footprint,
        denoiser=KnownDenoiser(component=footprint.denoiser, laws=laws_from_json(told), dtype=dtype),
        encoding=law_from_json(told["encoding"]),
        dtype=dtype,
    )


def model_of(sources: ModelSources, *, model_id: str, dtype: DType, cache: Any = None) -> TrainingModel:  # noqa: ANN401
    """A model in files; traced where there are no laws for its denoiser. `cache`: the folder of footprints."""
    footprint, name = (
        footprint_of(sources, model_id=model_id, cache=cache),
        family_of(sources.family).denoiser_component,
    )
    known = next((each for each in known_names() if _read(each)["graph"] == graph_of(sources, name)), None)
    if known is not None:
        laws = laws_from_json(_read(known))
        denoiser: Any = KnownDenoiser(component=footprint.denoiser, laws=laws, dtype=dtype)
    else:
        denoiser = _traced(sources, footprint, name, dtype, _remembered(sources, name, cache))
    return TrainingModel(
        footprint=footprint,
        denoiser=denoiser,
        encoding=_encoding(sources, _remembered(sources, "vae", cache)),
        dtype=dtype,
        text_live=_text_live(sources, footprint) if dtype == "float32" else None,  # footprints are of 16 bits
    )


def laws_from_json(told: Mapping[str, Any]) -> StepLaws:
    """Read laws; raises KeyError, TypeError or ValueError if they are invalid."""
    return StepLaws(
        rank=told["rank"],
        layers=tuple((tuple(shape), count) for shape, count in told["layers"]),
        live={mode: law_from_json(law) for mode, law in told["live"].items()},
        extra={scheme: law_from_json(law) for scheme, law in told["extra"].items()},
        offloaded={mode: law_from_json(law) for mode, law in told["offloaded"].items()},
    )


def laws_to_json(laws: StepLaws) -> dict[str, Any]:
    """Laws as JSON."""
    return {
        "rank": laws.rank,
        "layers": [[list(shape), count] for shape, count in laws.layers],
        "live": {mode: law_to_json(law) for mode, law in laws.live.items()},
        "extra": {scheme: law_to_json(law) for scheme, law in laws.extra.items()},
        "offloaded": {mode: law_to_json(law) for mode, law in laws.offloaded.items()},
    }


def has_8bit() -> bool:
    """Whether the 8-bit optimizer is installed."""
    return importlib.util.find_spec("bitsandbytes") is not None


def _remembered(sources: ModelSources, name: str, cache: Any) -> Remember:  # noqa: ANN401
    """What is traced of a component is kept in the folder of footprints, if there is one."""
    if cache is None:
        return traced_anew
    kept, graph = TracedCache(cache), graph_of(sources, name)
    return lambda asked, trace: kept.bytes(f"{graph}-training{_TRACES}-{asked}", trace)


def _traced(
    sources: ModelSources, footprint: ModelFootprint, name: str, dtype: DType, remember: Remember
) -> TracedDenoiser:
    from mezzotint.families.loading.networks import empty_network
    from mezzotint.memory.footprints.forward_calls import known_call

    source, family = sources.components[name], family_of(sources.family)
    return TracedDenoiser(
        build=lambda: empty_network(source),
        call=denoiser_call(sources) or functools.partial(known_call, source.class_name),
        tokens=prompt_tokens(sources),
        multiple=max(1, family.multiple(sources) // sources.vae_factor),
        dtype=dtype,
        component=footprint.denoiser,
        is_stored=set(footprint.denoiser.outside) == {"none"},
        remember=remember,
    )


def _encoding(sources: ModelSources, remember: Remember) -> ScalingLaw:
    """Activations of encoding, in proportion to the image, from its usual size."""
    from mezzotint.families.loading.networks import empty_network
    from mezzotint.training.planning.step_tracing import traced_encoding

    usual = sources.detected.defaults
    live = remember(
        f"encoding-{usual.width}x{usual.height}",
        lambda: traced_encoding(empty_network(sources.components["vae"]), usual.width, usual.height),
    )
    return ScalingLaw(per_position=live * sources.vae_factor**2 / (usual.width * usual.height))


def _text_live(sources: ModelSources, footprint: ModelFootprint) -> int | None:
    from mezzotint.families.loading.networks import empty_network
    from mezzotint.memory.footprints.forward_calls import can_trace
    from mezzotint.training.planning.step_tracing import traced_text

    found = []
    for part in footprint.components:
        if part.role == "text" and can_trace(part.class_name):
            network = empty_network(sources.components[part.name])
            most = getattr(network.config, "max_position_embeddings", None) or footprint.text_tokens  # of CLIP's chunks
            found.append(traced_text(network, part.class_name, min(most, footprint.text_tokens)))
    return max(found, default=None)


@functools.cache
def _read(name: str) -> dict[str, Any]:
    path = resources.files("mezzotint.training.planning") / "data" / f"{name}{_SUFFIX}"
    told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return told

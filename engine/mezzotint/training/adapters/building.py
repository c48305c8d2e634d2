"""Adapters from the settings of a training, and what cannot be trained, with the reason."""

from mezzotint.errors import UsageError
from mezzotint.families.family import Family, LoadedModel
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.text.clip_encode import clip_encoders
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.adapters.embedding import EmbeddingAdapter
from mezzotint.training.adapters.layers import LayerChoice, parse_ranks
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.presets import Resolved
from mezzotint.training_protocol import TrainingRequest, TrainingSettings


def check_adapter(request: TrainingRequest, family: Family) -> None:
    """Raise UsageError for an adapter that a family cannot have, and for settings of other kinds of adapters."""
    settings, kind = request.settings, request.settings.kind
    parse_ranks(settings.ranks)
    if trains_text(settings) and family.denoiser_component != "unet":
        what = "embeddings are" if kind == "embedding" else "text encoders are"
        raise UsageError(
            f"{what} trained for sd15 and sdxl, whose CLIP encoders are small and read captions alone; {family.name} "
            "has a large language model, which stays as it is"
        )
    if kind == "lokr" and DIALECTS[family.name].original is not None:
        raise UsageError(
            f"LoKrs of {family.name} cannot be written: its files have layers that are several here, and several "
            "Kronecker products are none together; use --kind lora or dora"
        )
    _check_fitting(settings)
    if kind == "embedding":
        _check_word(request)


def trains_text(settings: TrainingSettings) -> bool:
    """Whether captions are encoded in each step, because what encodes them is trained."""
    return settings.text_encoders or settings.kind == "embedding"


def build_adapter(model: LoadedModel, family: Family, request: TrainingRequest, values: Resolved) -> Adapter:
    """The adapter, on the model's device; the networks that it is for are in memory."""
    settings = request.settings
    if settings.kind == "embedding":
        encoders = clip_encoders(model.tokenizers, model.networks)
        words = EmbeddingAdapter(encoders, request.name, initial=request.word, vectors=settings.vectors)
        words.to(model.device)
        return words
    usual = LayerChoice(rank=values.rank, alpha=values.alpha)
    choices = {
        family.denoiser_component: LayerChoice(
            layers=settings.layers, rank=values.rank, alpha=values.alpha, ranks=parse_ranks(settings.ranks)
        )
    }
    if settings.text_encoders:
        choices |= {name: usual for name in model.networks if name.startswith("text_encoder")}
    adapter = NetworkAdapter(
        model.networks,
        choices,
        kind=settings.kind,
        seed=settings.seed,
        factor=settings.factor or -1,
        text_share=values.text_rate / values.rate,
    )
    adapter.to(model.device)
    return adapter


def _check_fitting(settings: TrainingSettings) -> None:
    """Raise UsageError for a setting that another kind of adapter has."""
    kind, usual = settings.kind, TrainingSettings()
    of_layers = {"--layers": "layers", "--ranks": "ranks", "--rank": "rank", "--alpha": "alpha"}
    of_layers |= {"--text-encoders": "text_encoders"}
    foreign = {"--factor": "factor"} if kind != "lokr" else {}
    foreign |= {"--vectors": "vectors"} if kind != "embedding" else of_layers
    if settings.text_rate is not None and not settings.text_encoders:
        raise UsageError("--text-rate needs --text-encoders")
    for option, name in foreign.items():
        if getattr(settings, name) != getattr(usual, name):
            raise UsageError(f"{option} has no meaning for --kind {kind}: leave it out")


def _check_word(request: TrainingRequest) -> None:
    if not request.word.strip():
        raise UsageError("an embedding begins as a word that the model knows: name it by --word, such as --word castle")
    if request.trigger not in ("", request.name):
        raise UsageError(
            f"the word of an embedding is the name of its file, {request.name!r}, not {request.trigger!r}: leave "
            "--trigger out, or change the name"
        )

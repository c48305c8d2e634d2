"""The preview decoder of each stage: named, found, or none, so that previews are linear."""

from collections.abc import Callable
from pathlib import Path

from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.families.autoencoder_space import latent_layout
from mezzotint.families.preview_decoder.lookup import Lookup, lookup
from mezzotint.families.preview_decoder.reading import PreviewDecoder, read_preview_decoder
from mezzotint.stages.setup import CascadeSetup, StageSetup

Notify = Callable[[str, str], None]


def preview_decoders(wanted: str, setup: CascadeSetup, notify: Notify) -> tuple[PreviewDecoder | None, ...]:
    """Read what `--preview-decoder` names for each stage; None for linear previews.

    With `auto`, a file that cannot be used is only reported. Otherwise raises UsageError if there is none, or
    ModelRefused if it cannot be used.
    """
    return tuple(_decoder(wanted, stage, notify) for stage in setup.stages)


def found_decoder(stage: StageSetup, notify: Notify) -> PreviewDecoder | None:
    """The decoder that is found for a stage's VAE; None if there is none, or, reported, if it cannot be used."""
    path = _lookup(stage).found()
    if path is None:
        return None
    try:
        return _read(path, stage)
    except (ModelRefused, StorageError) as error:
        notify("preview_decoder_refused", f"previews show colours only: {error}")
        return None


def _decoder(wanted: str, stage: StageSetup, notify: Notify) -> PreviewDecoder | None:
    if wanted == "linear":
        return None
    if wanted == "auto":
        return found_decoder(stage, notify)
    if wanted != "small":
        return _read(at_home(Path(wanted)), stage)
    places = _lookup(stage)
    path = places.found()
    if path is None:
        raise UsageError(f"there is no preview decoder for {stage.found.info.id}: {places.missing()}")
    return _read(path, stage)


def _lookup(stage: StageSetup) -> Lookup:
    return lookup(stage.sources.components["vae"], stage.found.preview_folders)


def _read(path: Path, stage: StageSetup) -> PreviewDecoder:
    decoder, layout = read_preview_decoder(path), latent_layout(stage.sources.components["vae"].config)
    if decoder.patch(layout) is None:
        network = decoder.network
        raise ModelRefused(
            f"{plain(path, 300)} decodes {network.latent_channels} channels of latents, each to {network.factor} "
            f"pixels a side; {stage.found.info.id} has {layout.channels} channels and {layout.factor} pixels"
        )
    return decoder

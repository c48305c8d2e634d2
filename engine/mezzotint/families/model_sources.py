"""The components of a model, with those that the user replaced."""

from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.families.detected import Detected
from mezzotint.families.family import ModelSources
from mezzotint.families.known import family_of
from mezzotint.families.replaced_vae import VAE, with_vae


def sources_of(checkpoint: Checkpoint, detected: Detected) -> ModelSources:
    """List the components of a checkpoint; raises ModelRefused if one is missing."""
    sources = family_of(detected.family).sources(checkpoint, detected)
    if VAE not in checkpoint.chosen or sources.components[VAE].files == (checkpoint.parts[VAE],):
        return sources  # a transformer's file, whose family has found the VAE there
    return with_vae(sources, checkpoint.parts[VAE])

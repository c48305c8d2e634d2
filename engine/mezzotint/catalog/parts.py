"""Find the text encoder and VAE for a transformer in a file of its own, as in ComfyUI's folders; check chosen files."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mezzotint.catalog.place import Place, at_home
from mezzotint.catalog.scan import scan
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.families.detected import Detected
from mezzotint.families.detection import detect
from mezzotint.families.family import ComponentSource, Family
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.flow.files import denoiser_in, fits, part_needed, usual_name
from mezzotint.families.flow.parts import PartNeeded
from mezzotint.families.known import family_of
from mezzotint.families.loading.added_parts import lacking, part_for, whole_header
from mezzotint.families.preview_decoder.lookup import APPROXIMATIONS
from mezzotint.families.replaced_vae import VAE, OwnVae, is_vae_alone, own_vae

TRANSFORMER_FOLDERS = ("diffusion_models", "unet")  # ComfyUI's names
PART_FOLDERS = ("text_encoders", "clip", "vae")
_MOST_FILES = 500  # checked per transformer


def with_parts(
    checkpoint: Checkpoint, detected: Detected, folders: Sequence[Path] = (), chosen: Sequence[Path] = ()
) -> Checkpoint:
    """Add the component files that fit a transformer's file, from its own folder, ComfyUI's next to it, and `folders`.

    `chosen` files come before those. Raises ModelRefused, with the usual file name, for a missing component, and for
    a chosen file that does not fit. Of other models, only the VAE can be chosen, and nothing is looked for.
    """
    family = family_of(detected.family)
    denoiser = _denoiser(family, checkpoint)
    added = {component: checkpoint.parts[component] for component in checkpoint.chosen}
    own = {**added, **dict(chosen_part(path, checkpoint) for path in chosen)}
    if denoiser is None or not isinstance(checkpoint, FileCheckpoint) or not isinstance(family, FlowFamily):
        return replace(checkpoint, parts=own, chosen=frozenset(own))
    files = list(_files((*_folders_near(checkpoint.path), *folders)))
    parts = {
        needed.component: found
        for needed in family.needs
        if needed.component not in own and (found := _found(needed, checkpoint, denoiser, files)) is not None
    }
    whole = replace(checkpoint, parts={**parts, **own}, chosen=frozenset(own))
    family.sources(whole, detected)
    return whole


def completed(checkpoint: Checkpoint, chosen: Sequence[tuple[str, Path]]) -> tuple[Checkpoint, list[tuple[str, Path]]]:
    """A checkpoint with a U-Net, with files for the components that it lacks, and the files that were not used so.

    `chosen`: with the kind that each is given for, empty if any. Raises UsageError for a file of another kind,
    ModelRefused for one that cannot be what the checkpoint lacks.
    """
    if not isinstance(checkpoint, FileCheckpoint) or not lacking(whole_header(checkpoint).tensors):
        return checkpoint, list(chosen)
    left: list[tuple[str, Path]] = []
    bare = checkpoint
    for kind, path in chosen:
        lacks = lacking(whole_header(checkpoint).tensors)
        if not any(each.startswith(kind) for each in lacks):
            if kind or part_for(bare, path) not in checkpoint.parts:  # else one given for this call precedes it
                left.append((kind, path))
            continue
        component = part_for(checkpoint, path)
        if component is None or not component.startswith(kind):
            wanted = " nor ".join(each for each in lacks if each.startswith(kind))
            raise ModelRefused(
                f"{plain(path, 300)} does not fit {plain(checkpoint.path, 300)}: it holds no {wanted}, which that lacks"
            )
        parts = {**checkpoint.parts, component: path}
        checkpoint = replace(checkpoint, parts=parts, chosen=frozenset(parts))
    return checkpoint, left


def fitting_files(checkpoint: Checkpoint, folders: Sequence[Path] = ()) -> dict[str, tuple[Path, ...]]:
    """The files found that fit, for each component that can be read from another file; see `with_parts`."""
    files = list(_files((*_folders_near(checkpoint.path), *folders)))
    if isinstance(checkpoint, FileCheckpoint) and (lacks := lacking(whole_header(checkpoint).tensors)):
        found_for = [(path, _lacked(checkpoint, path)) for path in files if path != checkpoint.path]
        return {name: tuple(path for path, component in found_for if component == name) for name in lacks}
    family = family_of(detect(checkpoint).family)
    denoiser = _denoiser(family, checkpoint)
    if denoiser is None or not isinstance(checkpoint, FileCheckpoint) or not isinstance(family, FlowFamily):
        own = _own_vae(checkpoint)
        found = tuple(path for path in files if path != checkpoint.path and _replaces(path, own))
        return {VAE: found} if found else {}
    return {
        needed.component: tuple(
            path
            for path in files
            if path != checkpoint.path and (part := _part(path, needed)) is not None and fits(needed, part, denoiser)
        )
        for needed in family.needs
    }


def chosen_part(path: Path, checkpoint: Checkpoint) -> tuple[str, Path]:
    """The component that a file is for: of a transformer's file any, of other models the VAE.

    Of a checkpoint that lacks components, it is for one of those. Raises ModelRefused if it does not fit.
    """
    whole, left = completed(checkpoint, [("", path)])
    if not left:
        return next((name, file) for name, file in whole.parts.items() if name not in checkpoint.parts)
    family = family_of(detect(checkpoint).family)
    denoiser = _denoiser(family, checkpoint)
    if denoiser is None or not isinstance(family, FlowFamily):
        reason = _own_vae(checkpoint).mismatch(path)
        if reason is None:
            return VAE, path
        raise ModelRefused(f"{plain(path, 300)} is no VAE for {plain(checkpoint.path, 300)}: {reason}")
    header = weight_header(path)
    for needed in family.needs:
        part = part_needed(needed, header)
        if part is not None and fits(needed, part, denoiser):
            return needed.component, path
    wanted = "; ".join(f"{needed.networks[0].name}, as in {usual_name(needed, denoiser)}" for needed in family.needs)
    raise ModelRefused(
        f"{plain(path, 300)} does not fit {plain(checkpoint.path, 300)}, which takes {wanted}; "
        "`mezzotint models set MODEL --vae auto --text-encoder auto` goes back to the files that are found"
    )


def part_of_kind(kind: str, path: Path, checkpoint: Checkpoint) -> tuple[str, Path]:
    """The component that a file is for, and its absolute path; raises UsageError for one of another kind."""
    path = at_home(path).absolute()
    if not kind.startswith(VAE) and _takes_only_a_vae(checkpoint):
        raise UsageError(
            f"{plain(checkpoint.path, 300)} has its own text encoders: others can be chosen only for a transformer in "
            "a file of its own; leave --text-encoder out"
        )
    component, found = chosen_part(path, checkpoint)
    if not component.startswith(kind):
        raise UsageError(f"{plain(found, 300)} is for this model's {component}, not for its {kind}")
    return component, found


def preview_folders_near(path: Path) -> tuple[Path, ...]:
    """The folder of preview decoders in the models tree, as ComfyUI has it, that contains a model."""
    models = _models_tree(path)
    return () if models is None else (models / APPROXIMATIONS,)


def _denoiser(family: Family, checkpoint: Checkpoint) -> ComponentSource | None:
    if not isinstance(checkpoint, FileCheckpoint) or not isinstance(family, FlowFamily):
        return None
    return denoiser_in(family, checkpoint.header)


def _takes_only_a_vae(checkpoint: Checkpoint) -> bool:
    if isinstance(checkpoint, FileCheckpoint) and lacking(whole_header(checkpoint).tensors):
        return False
    return _denoiser(family_of(detect(checkpoint).family), checkpoint) is None


def _own_vae(checkpoint: Checkpoint) -> OwnVae:
    detected = detect(checkpoint)
    own = {name: path for name, path in checkpoint.parts.items() if name != VAE}
    bare = replace(checkpoint, parts=own, chosen=checkpoint.chosen - {VAE})
    return own_vae(family_of(detected.family).sources(bare, detected))


def _lacked(checkpoint: FileCheckpoint, path: Path) -> str | None:
    with suppress(ModelRefused, StorageError):
        return part_for(checkpoint, path) if is_vae_alone(path) else None
    return None


def _replaces(path: Path, own: OwnVae) -> bool:
    with suppress(ModelRefused, StorageError):
        return is_vae_alone(path) and own.mismatch(path) is None
    return False


def _found(
    needed: PartNeeded, checkpoint: FileCheckpoint, denoiser: ComponentSource, files: Sequence[Path]
) -> Path | None:
    """The file with the usual name, else the first that fits, else one of another size, to be named in the refusal.

    None if the transformer's own file contains the component, or there is none.
    """
    if part_needed(needed, checkpoint.header) is not None:
        return None
    usual = usual_name(needed, denoiser)
    other = None
    named = (path for path in files if not needed.unlike or not re.search(needed.unlike, path.stem.lower()))
    for path in sorted(named, key=lambda path: path.name != usual):
        part = _part(path, needed)
        if part is not None and fits(needed, part, denoiser):
            return path
        other = path if part is not None and other is None else other
    return other


def _part(path: Path, needed: PartNeeded) -> ComponentSource | None:
    with suppress(ModelRefused, StorageError):
        return part_needed(needed, weight_header(path))
    return None


def _folders_near(path: Path) -> Iterator[Path]:
    """A file's folder, and the component folders of the models tree that contains it."""
    yield path.parent
    models = _models_tree(path)
    if models is not None:
        yield from (models / name for name in PART_FOLDERS)


def _models_tree(path: Path) -> Path | None:
    kinds = (*TRANSFORMER_FOLDERS, "checkpoints", "diffusers")
    return next((folder.parent for folder in path.parents if folder.name in kinds), None)


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    left = _MOST_FILES
    for folder in dict.fromkeys(folders):
        for candidate in scan(Place(path=folder, source="folder")).candidates if is_folder(folder) else ():
            if left and candidate.layout == "file" and candidate.path.suffix.lower() in (".safetensors", ".gguf"):
                left -= 1
                yield candidate.path

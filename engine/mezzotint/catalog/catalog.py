"""The catalog of models, found by scanning each time; nothing is copied, moved or cached."""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mezzotint.catalog.backgrounds import background_at, backgrounds_in
from mezzotint.catalog.detectors import detectors_for
from mezzotint.catalog.huggingface import PREFIX, scan_cache, snapshot_of
from mezzotint.catalog.ids import with_ids
from mezzotint.catalog.looking import Purpose, looking_networks, network_for
from mezzotint.catalog.named_files import (
    CONTROLNETS,
    EMBEDDINGS,
    LORAS,
    OTHER_FOLDERS,
    UPSCALERS,
    file_named,
    file_of,
    files_called,
    model_folders,
    named_files,
)
from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.parts import completed, fitting_files, part_of_kind, preview_folders_near, with_parts
from mezzotint.catalog.place import Candidate, Found, Layout, Place, Source, at_home
from mezzotint.catalog.places import Places, all_places, standard_places
from mezzotint.catalog.scan import scan
from mezzotint.catalog.upscalers import upscaler_at
from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.folder_settings import read_settings
from mezzotint.checkpoints.foreign_kind import is_pickle_name
from mezzotint.checkpoints.looking_folder import ONNX_FILE, purpose_of
from mezzotint.checkpoints.opening import Checkpoint, open_checkpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import ModelRefused, StorageError, UnknownModel, UsageError
from mezzotint.families.detected import Detected
from mezzotint.families.detection import detect
from mezzotint.families.loading.precision import parts_of, scheme_of
from mezzotint.families.model_sources import sources_of
from mezzotint.families.own_sampler import own_sampler
from mezzotint.families.preview_decoder.lookup import APPROXIMATIONS
from mezzotint.protocol import ModelInfo, ModelPart, ModelRef, PartFiles

DEFAULT_MODEL = "starter-dit"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    """A model that was opened and detected; its weights are still on disk."""

    info: ModelInfo
    checkpoint: Checkpoint
    detected: Detected
    preview_folders: tuple[Path, ...] = ()  # where preview decoders may be


@dataclass(frozen=True, slots=True, kw_only=True)
class _WhereParts:
    """Where the components of transformers in files of their own are found."""

    folders: tuple[Path, ...]
    chosen: Mapping[str, tuple[Path, ...]]
    ref: ModelRef | None = None  # with the files for one call, which precede those
    previews: tuple[Path, ...] = ()  # folders of preview decoders


class Catalog:
    """The models of this machine."""

    def __init__(self, places: Places, refresh: Callable[[], Places] | None = None) -> None:
        """`refresh` returns the current places; without it they never change."""
        self._last, self._refresh = places, refresh

    @classmethod
    def standard(cls, folders: Sequence[Path] = ()) -> "Catalog":
        """The catalog of all usual places and the given folders; folders added to the settings later are included."""
        return cls(standard_places(folders), partial(standard_places, tuple(folders)))

    @property
    def _places(self) -> Places:
        """The current places, or the last ones if the settings are unreadable now, so that running work continues."""
        if self._refresh is not None:
            with suppress(UsageError):
                self._last = self._refresh()
        return self._last

    def models(self, *, hidden: bool = False) -> tuple[ModelInfo, ...]:
        """Every model found, with the reason in `problem` for unusable ones. Reads only headers and configs.

        Leaves out models that the user has hidden, and bundled ones that say so, unless `hidden`.
        """
        places, where = self._places, self._where_parts()
        return tuple(
            replace(_listed(identity, candidate, where), hidden=_is_hidden(identity, candidate, places))
            for identity, candidate in self._candidates()[0].items()
            if hidden or not _is_hidden(identity, candidate, places)
        )

    def removed(self) -> tuple[ModelInfo, ...]:
        """The models that the user has hidden; not the bundled ones that no list has until they are asked for."""
        places, where = self._places, self._where_parts()
        return tuple(
            replace(_listed(identity, candidate, where), hidden=True)
            for identity, candidate in self._candidates()[0].items()
            if _is_removed(identity, candidate, places)
        )

    def hides(self, identity: str) -> bool:
        """Whether lists leave out the model of this id."""
        candidate = self._candidates()[0].get(identity)
        return candidate is not None and _is_hidden(identity, candidate, self._places)

    def at(self, path: Path) -> ModelInfo:
        """The model at a path, by its listed id if it has one; a refused one has the reason in `problem`."""
        real = os.path.realpath(path)
        for identity, candidate in self._candidates()[0].items():
            if os.path.realpath(candidate.path) == real:
                return _listed(identity, candidate, self._where_parts())
        purpose, outside = purpose_of(path), _outside_candidate(path)
        return _looking_info(path, purpose) if purpose else _listed(str(path), outside, self._where_parts())

    def where(self, ref: ModelRef) -> tuple[str, Path]:
        """The id and path of a model, even a damaged one; raises UnknownModel if there is none."""
        candidates, _ = self._candidates()
        identity = _match(ref.id, candidates)
        if identity is not None:
            return identity, candidates[identity].path
        path = _path_of(ref.id)
        if path is None:
            raise UnknownModel(_unknown(ref.id, at_home(Path(ref.id)), candidates))
        return str(path), path

    def notices(self) -> tuple[str, ...]:
        """Problems met while scanning: missing folders, invalid settings files."""
        return self._candidates()[1]

    def find(self, ref: ModelRef) -> FoundModel:
        """Find a model by id, by a unique file name or by path; ids take precedence."""
        candidates, _ = self._candidates()
        identity = _match(ref.id, candidates)
        if identity is not None:
            return _open(identity, candidates[identity], self._where_parts(ref))
        path = _path_of(ref.id)
        if path is not None:
            return _open_as(str(path), path, "path", self._where_parts(ref))
        raise UnknownModel(_unknown(ref.id, at_home(Path(ref.id)), candidates))

    def inspect(self, ref: ModelRef) -> ModelInfo:
        """Like `find`, but returns the info including the model's components; reads only headers."""
        found = self.find(ref)
        sources = sources_of(found.checkpoint, found.detected)
        parts = tuple(_with_file(part, found.checkpoint) for part in parts_of(sources))
        return replace(found.info, parts=parts)

    def part_files(self, ref: ModelRef) -> tuple[PartFiles, ...]:
        """The components that can be read from other files, also of a model that lacks one of them."""
        path, where = self.where(ref)[1], self._where_parts()
        opened = open_checkpoint(path)
        whole = opened
        with suppress(ModelRefused, StorageError):
            whole, chosen = completed(opened, _chosen(path, where))
            whole = _with_parts(whole, detect(whole), where, chosen)
        fitting = {**dict.fromkeys(whole.chosen, ()), **fitting_files(opened, where.folders)}
        return tuple(
            PartFiles(
                component=name,
                file=str(whole.parts.get(name, "")),
                chosen=name in whole.chosen,
                fitting=tuple(map(str, files)),
            )
            for name, files in fitting.items()
        )

    def loras(self) -> dict[str, Path]:
        """The LoRA files in the usual folders, by name."""
        return named_files(self._places, LORAS)

    def folders(self) -> tuple[Path, ...]:
        """The folders in which models are looked for."""
        return model_folders(self._places)

    def files_called(self, names: Set[str]) -> dict[str, Path]:
        """Files and folders of models with these names, suffix included; of several the first."""
        return files_called(names, self._places)

    def controlnets(self) -> dict[str, Path]:
        """The ControlNet files in the usual folders, by name."""
        return named_files(self._places, CONTROLNETS)

    def control(self, name: str) -> str:
        """The file of a control network or control LoRA, by its name; a path stays. Raises UnknownModel for a name."""
        found = file_of(name, self._places, (CONTROLNETS, LORAS))
        if found != name or not name or Path(name).name != name or Path(name).suffix or os.path.lexists(name):
            return found
        none = f"there is no ControlNet {plain(name, 200)}: neither a file nor a name in a folder controlnet"
        return str(file_named(name, self.controlnets(), none))

    def embeddings(self) -> dict[str, Path]:
        """Embedding files by name."""
        return named_files(self._places, EMBEDDINGS)

    def default(self) -> ModelRef:
        """The bundled model that works on a fresh install."""
        return ModelRef(id=DEFAULT_MODEL)

    def upscalers(self) -> tuple[str, ...]:
        """The names of all upscalers found, the bundled one first."""
        return tuple(named_files(self._places, UPSCALERS))

    def upscaler(self, name: str) -> Path:
        """The file of an upscaler, by name or path; raises UnknownModel, naming those that there are."""
        return upscaler_at(name, self._places)

    def looking(self, purpose: Purpose) -> dict[str, Path]:
        """The folders of networks that look at images for a purpose, by name."""
        return looking_networks(self._places, purpose)

    def network_for(self, purpose: Purpose, label: str | None = None) -> Path:
        """The folder of a network for a purpose, such as a detector of a label; raises UnknownModel."""
        return network_for(self._places, purpose, label)

    def backgrounds(self) -> tuple[str, ...]:
        """The names of all networks found that remove backgrounds."""
        return tuple(backgrounds_in(self._places))

    def background(self, name: str | None) -> Path:
        """The file of such a network, by name or path, without one the first; raises UnknownModel."""
        return background_at(name, self._places)

    def detectors(self, name: str | None = None) -> tuple[Path, ...]:
        """The folder of a detector, by name or path; without one of all; raises UnknownModel."""
        return detectors_for(name, self._places)

    def _where_parts(self, ref: ModelRef | None = None) -> "_WhereParts":
        places = self._places
        folders = tuple(folder for path in places.named for folder in part_folders(path))
        previews = tuple(folder for path in places.named for folder in part_folders(path, (APPROXIMATIONS,)))
        return _WhereParts(folders=folders, chosen=places.parts, ref=ref, previews=previews)

    def _candidates(self) -> tuple[dict[str, Candidate], tuple[str, ...]]:
        places, notices = all_places(self._places)
        found = [_scan(place) for place in places]
        unique: dict[str, Candidate] = {}
        for candidate in (candidate for part in found for candidate in part.candidates):
            unique.setdefault(os.path.realpath(candidate.path), candidate)
        return with_ids(tuple(unique.values())), (*notices, *(notice for part in found for notice in part.notices))


def _with_file(part: ModelPart, checkpoint: Checkpoint) -> ModelPart:
    if part.name not in checkpoint.parts:
        return part
    return replace(part, file=str(checkpoint.parts[part.name]), chosen=part.name in checkpoint.chosen)


def _is_hidden(identity: str, candidate: Candidate, places: Places) -> bool:
    return _is_removed(identity, candidate, places) or not (candidate.listed or identity in places.shown)


def _is_removed(identity: str, candidate: Candidate, places: Places) -> bool:
    return identity in places.hidden or str(candidate.path) in places.hidden


def _scan(place: Place) -> Found:
    if place.source == "huggingface":
        return scan_cache(place.path)
    found = scan(place, without=OTHER_FOLDERS)
    if place.source != "bundled":
        return found
    # All bundled models are folders; other files there are not models, such as the judge of the starter's images.
    return replace(found, candidates=tuple(_with_own_name(one) for one in found.candidates if one.layout == "folder"))


def _with_own_name(candidate: Candidate) -> Candidate:
    """Name and list a bundled model as in its mezzotint.json."""
    try:
        settings = read_settings(candidate.path)
    except (ModelRefused, StorageError):
        return candidate  # opening it will report the error
    return replace(
        candidate, name=str(settings.get("name", candidate.name)), listed=settings.get("listed", True) is True
    )


def _listed(identity: str, candidate: Candidate, where: _WhereParts) -> ModelInfo:
    try:
        return _open(identity, candidate, where).info
    except (ModelRefused, StorageError) as error:
        return ModelInfo(
            id=identity,
            path=str(candidate.path),
            layout=candidate.layout,
            family="",
            variant="",
            bytes=_bytes_of_file(candidate.path),
            source=candidate.source,
            defaults=None,
            problem=str(error),
        )


def _looking_info(path: Path, purpose: str) -> ModelInfo:
    """A network that looks at images, and makes none."""
    return ModelInfo(
        id=path.name,
        path=str(path),
        layout="folder",
        family=purpose,
        variant="",
        bytes=sum(map(_bytes_of_file, (*path.glob("*.safetensors"), path / ONNX_FILE))),
        source="path",
        defaults=None,
        problem=None,
    )


def _bytes_of_file(path: Path) -> int:
    try:
        return path.stat().st_size if is_file(path) else 0
    except OSError:
        return 0


def _open(identity: str, candidate: Candidate, where: _WhereParts) -> FoundModel:
    return _open_as(identity, candidate.path, candidate.source, where)


def _path_of(words: str) -> Path | None:
    """The path of a model given by path; for a hub repository, its snapshot."""
    path = at_home(Path(words))
    if not words or not (is_folder(path) or is_file(path)):
        return None
    snapshot = snapshot_of(path) if path.name.startswith(PREFIX) else None
    return (snapshot or path).absolute()


def _outside_candidate(path: Path) -> Candidate:
    """A model outside all places."""
    layout: Layout = "folder" if is_folder(path) else "file"
    return Candidate(path=path, layout=layout, source="path", name=path.name, long_name=path.name)


def _open_as(identity: str, path: Path, source: Source, where: _WhereParts) -> FoundModel:
    checkpoint, chosen = completed(open_checkpoint(path), _chosen(path, where))
    detected = detect(checkpoint)
    checkpoint = _with_parts(checkpoint, detected, where, chosen)
    sampler, schedule = own_sampler(checkpoint, detected)
    info = ModelInfo(
        id=identity,
        path=str(path),
        layout="folder" if isinstance(checkpoint, FolderCheckpoint) else "file",
        family=detected.family,
        variant=detected.variant,
        bytes=checkpoint.bytes,
        source=source,
        defaults=replace(detected.defaults, sampler=sampler, schedule=schedule),
        problem=None,
        scheme=scheme_of(checkpoint),
        references=detected.references,
        guidance=detected.guidance,
        conditional_refiner=detected.conditional_refiner,
        prediction_type=detected.prediction_type,
        prediction_reason=detected.prediction_reason,
        notices=detected.notices,
    )
    previews = tuple(dict.fromkeys((*preview_folders_near(path), *where.previews)))
    return FoundModel(info=info, checkpoint=checkpoint, detected=detected, preview_folders=previews)


def _chosen(path: Path, where: _WhereParts) -> list[tuple[str, Path]]:
    """The files chosen for a model's components: for one call, of a kind, and before those of the settings."""
    vae, text = (None, ()) if where.ref is None else (where.ref.vae, where.ref.text_encoders)
    given = [*(("vae", file) for file in (vae,) if file is not None), *(("text_encoder", file) for file in text)]
    of_settings = [("", file) for file in where.chosen.get(os.path.realpath(path), ())]
    return [*((kind, at_home(Path(file)).absolute()) for kind, file in given), *of_settings]


def _with_parts(
    checkpoint: Checkpoint, detected: Detected, where: _WhereParts, chosen: Sequence[tuple[str, Path]]
) -> Checkpoint:
    """The checkpoint with its component files; those for one call precede."""
    files = [part_of_kind(kind, file, checkpoint)[1] if kind else file for kind, file in reversed(chosen)]
    return with_parts(checkpoint, detected, where.folders, files)


def _match(wanted: str, candidates: dict[str, Candidate]) -> str | None:
    """The id that `wanted` refers to; None if there is none, raises UnknownModel if ambiguous."""
    if wanted in candidates:
        return wanted
    for fits in (_is_file_name, _is_id, _is_name):
        found = [identity for identity, candidate in candidates.items() if fits(wanted, identity, candidate)]
        if len(found) > 1:
            raise UnknownModel(
                f"'{plain(wanted)}' matches several models: {', '.join(found[:8])}; use one of these ids, or a path"
            )
        if found:
            return found[0]
    return None


def _is_file_name(wanted: str, _identity: str, candidate: Candidate) -> bool:
    return wanted == candidate.path.name


def _is_id(wanted: str, identity: str, _candidate: Candidate) -> bool:
    return wanted.casefold() == identity.casefold()


def _is_name(wanted: str, _identity: str, candidate: Candidate) -> bool:
    return wanted.casefold() in (candidate.name.casefold(), candidate.path.stem.casefold())


def _unknown(wanted: str, path: Path, candidates: dict[str, Candidate]) -> str:
    looks_like_path = (
        path.is_absolute()
        or wanted.startswith((".", "~"))
        or is_pickle_name(path)
        or (path.suffix.lower() == ".safetensors")
    )
    what = "There is no file or folder" if looks_like_path else "No model is called"
    names = {
        name.casefold(): identity for identity, c in candidates.items() for name in (identity, c.name, c.path.name)
    }
    near = difflib.get_close_matches((path.name if looks_like_path else wanted).casefold(), names, n=3, cutoff=0.5)
    nearest = list(dict.fromkeys(names[name] for name in near))
    advice = f"Nearest: {', '.join(nearest)}" if nearest else "`mezzotint models list` shows all"
    return f"{what} '{plain(wanted, 300)}'. {advice}"

"""Read how an image was made, whatever program wrote it; all bytes are treated as hostile."""

from dataclasses import replace
from pathlib import Path

from PIL import Image

from mezzotint.images import a1111
from mezzotint.images.comfyui.reading import is_graph, metadata_of_graph
from mezzotint.images.embedded import EmbeddedTexts, embedded_texts
from mezzotint.images.encoding import INFOTEXT_KEYWORD, RECORD_KEYWORD
from mezzotint.images.infotext import parse_infotext
from mezzotint.images.own_record import metadata_of_record
from mezzotint.images.programs import early_invokeai, flat_json, novelai
from mezzotint.images.programs.stealth import hidden_texts
from mezzotint.images.reading import open_image
from mezzotint.images.untrusted import UnreadableError, cleaned, parse_object
from mezzotint.images.unused import unused_settings
from mezzotint.images.xmp import record_in_xmp
from mezzotint.protocol import ImageMetadata

_LORAS = ("loras", "loraweights")  # keys in `other`, for display
NOTE = "note"  # key in `other` for what could not be read
IMAGE_SIZE = "image_size"  # key in `other` for the image's size, if its settings state another


def read_metadata(path: Path) -> ImageMetadata:
    """Read an image's metadata; program "unknown" and the image's size if it has none.

    Pixels are only decoded where nothing else says how the image was made: they may hide it.
    """
    with open_image(path) as image:
        return metadata_in(image, hidden=True)


def metadata_in(image: Image.Image, *, hidden: bool = False) -> ImageMetadata:
    """Metadata of an opened image, for callers that read more from it; `hidden`: also what its pixels hide."""
    size, texts = image.size, embedded_texts(image)
    notes = [texts.note] if texts.note else []
    found = _read(texts, notes)
    if found is None and not notes and hidden:
        found = _hidden(image, notes)
    return _finished(found or _empty("mezzotint" if own_record(texts) else "unknown"), size, notes)


def _read(texts: EmbeddedTexts, notes: list[str]) -> ImageMetadata | None:
    for dialect in (_ours, _invokeai, _parameters, _novelai, _early_invokeai, _comfyui):
        try:
            found = dialect(texts)
        except UnreadableError as error:
            notes.append(str(error))
            continue
        if found is not None:
            return found
    return None


def _hidden(image: Image.Image, notes: list[str]) -> ImageMetadata | None:
    """What texts in the pixels say, if there are no others."""
    try:
        chunks = hidden_texts(image)
    except UnreadableError as error:
        notes.append(str(error))
        return None
    return _read(EmbeddedTexts(chunks=chunks), notes) if chunks else None


def _ours(texts: EmbeddedTexts) -> ImageMetadata | None:
    record = own_record(texts)
    return metadata_of_record(record) if record is not None else None


def own_record(texts: EmbeddedTexts) -> str | None:
    """Our own record as written, from wherever the format stores it; None if the image is not ours."""
    return texts.chunks.get(RECORD_KEYWORD) or record_in_xmp(texts.xmp)


def _invokeai(texts: EmbeddedTexts) -> ImageMetadata | None:
    written = texts.chunks.get("invokeai_metadata")
    return flat_json.metadata_of_invokeai(parse_object(written)) if written is not None else None


def _parameters(texts: EmbeddedTexts) -> ImageMetadata | None:
    """A1111's infotext, or SwarmUI's or Fooocus's JSON in its place; in JPEG and WebP the EXIF comment."""
    chunk = texts.chunks.get(INFOTEXT_KEYWORD)
    written = chunk or texts.comment
    if not written:
        return None
    if written.lstrip().startswith("{"):
        return _json_parameters(parse_object(written))
    info = parse_infotext(written)
    if info is None:
        return replace(_empty("a1111"), prompt=cleaned(written)) if chunk else None
    found = a1111.metadata_of(info)
    scheme = texts.chunks.get("fooocus_scheme") or texts.maker_note
    return replace(found, program="fooocus") if scheme == "a1111" else found


def _json_parameters(data: dict[str, object]) -> ImageMetadata | None:
    if flat_json.is_swarmui(data):
        return flat_json.metadata_of_swarmui(data)
    return flat_json.metadata_of_fooocus(data) if flat_json.is_fooocus(data) else None


def _novelai(texts: EmbeddedTexts) -> ImageMetadata | None:
    return novelai.metadata_of_novelai(texts.chunks) if texts.chunks.get("Software") == novelai.SOFTWARE else None


def _early_invokeai(texts: EmbeddedTexts) -> ImageMetadata | None:
    """`sd-metadata`, which says more, or the `Dream` command."""
    written, command = texts.chunks.get("sd-metadata"), texts.chunks.get("Dream")
    if written is not None:
        return early_invokeai.metadata_of_sd_metadata(parse_object(written))
    return early_invokeai.metadata_of_dream(command) if command is not None else None


def _comfyui(texts: EmbeddedTexts) -> ImageMetadata | None:
    """ComfyUI's graph: a text chunk `prompt`; in WebP an EXIF text that starts with `prompt:`."""
    in_exif = (one.partition(":")[2] for one in texts.exif if one.lower().startswith("prompt:"))
    written = texts.chunks.get("prompt") or next(in_exif, "")
    if not written.lstrip().startswith("{"):
        return None
    graph = parse_object(written)
    return metadata_of_graph(graph) if is_graph(graph) else None


def _finished(found: ImageMetadata, size: tuple[int, int], notes: list[str]) -> ImageMetadata:
    other = dict(found.other)
    if found.width is None or found.height is None:
        found = replace(found, width=size[0], height=size[1])
    elif (found.width, found.height) != size:
        other[IMAGE_SIZE] = f"{size[0]}x{size[1]}"
    if notes:
        other[NOTE] = "; ".join(notes)
    if found.request is None:
        found = replace(found, unused=unused_settings(other, _LORAS if found.loras else ()))
    return replace(found, other=other)


def _empty(program: str) -> ImageMetadata:
    return ImageMetadata(
        program=program,
        prompt=None,
        negative_prompt=None,
        width=None,
        height=None,
        seed=None,
        steps=None,
        sampler=None,
        schedule=None,
        guidance_scale=None,
        strength=None,
        model=None,
        model_hash=None,
        request=None,
        other={},
    )

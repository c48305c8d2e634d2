"""What is often wrong with a dataset: too few images, missing captions, files that belong to no image, duplicates."""

from collections.abc import Sequence
from pathlib import Path

from mezzotint.training.dataset.listing import Listing, key_of
from mezzotint.training.dataset.records import TrainingImage
from mezzotint.trouble import shown

FEW_IMAGES = 5

_WHAT_TO_PUT = (
    "put the images to train on there (PNG, JPEG, WebP, AVIF, TIFF, BMP or GIF), each with its caption in a text file "
    "of the same name (castle.png, castle.txt)"
)


def tell_common_problems(listing: Listing, images: Sequence[TrainingImage]) -> None:
    """Add these problems to the listing; `images` are those that can be used."""
    _tell_number(listing, images)
    _tell_missing_captions(listing, images)
    _tell_strays(listing)
    _tell_duplicates(listing, images)


def _tell_number(listing: Listing, images: Sequence[TrainingImage]) -> None:
    count = sum(not image.regularization for image in images)
    if count == 0 and images:
        listing.tell(listing.root, "error", f"contains only regularization images, in reg: {_WHAT_TO_PUT}")
    elif count == 0:
        usable = "no image that can be used" if listing.images else "no images"
        listing.tell(listing.root, "error", f"contains {usable}: {_WHAT_TO_PUT}")
    elif count < FEW_IMAGES:
        only = "only one image" if count == 1 else f"only {count} images"
        listing.tell(
            listing.root, "warning", f"contains {only}: the model will repeat them; ten or more varied ones work better"
        )


def _tell_missing_captions(listing: Listing, images: Sequence[TrainingImage]) -> None:
    bare = [image for image in images if not image.captions]
    if bare and len(bare) == len(images):
        none = f"none of {len(images)} images has a caption" if len(images) > 1 else "the image has no caption"
        what = f"lacks captions: {none}; write what each shows into a text file of the same name"
        listing.tell(listing.root, "warning", what)
        return
    for image in bare:
        why = f": {shown(image.caption_file.name)} is empty" if image.caption_file else ""
        name = shown(image.path.with_suffix(".txt").name)
        listing.tell(image.path, "warning", f"has no caption{why}; write what it shows into {name}")


def _tell_strays(listing: Listing) -> None:
    known = {key_of(path.relative_to(listing.root).with_suffix("")) for path in listing.images}
    for key, files in listing.captions.items():
        for file in files if key not in known else ():
            listing.tell(file, "warning", "is a caption without an image: it needs the image's name")
    for key, mask in listing.masks.items():
        if key not in known:
            image = shown(Path(key).name)
            listing.tell(mask, "warning", f"is read as the mask of {image}, which is not there; rename one of them")


def _tell_duplicates(listing: Listing, images: Sequence[TrainingImage]) -> None:
    first: dict[str, TrainingImage] = {}
    for image in images:
        same = first.setdefault(image.content, image)
        if same is not image:
            listing.tell(
                image.path, "warning", f"is the same file as {listing.name(same.path)}: remove one, or both are trained"
            )

"""Texts about the init image."""

from PySide6.QtCore import QCoreApplication

from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel


def strength_words(strength: float) -> str:
    """Describe the effect of a denoising strength."""
    if strength < 0.15:
        return QCoreApplication.translate("ImageInput", "Hardly anything changes")
    if strength < 0.4:
        return QCoreApplication.translate("ImageInput", "Details change, shapes and colours stay")
    if strength < 0.65:
        return QCoreApplication.translate("ImageInput", "Parts change, the composition stays")
    if strength < 0.85:
        return QCoreApplication.translate("ImageInput", "Most of the image changes; it is a loose guide")
    if strength < 1:
        return QCoreApplication.translate("ImageInput", "Almost everything changes")
    return QCoreApplication.translate("ImageInput", "Everything changes")


def size_words(model: ImageInputModel) -> str:
    """Describe the size of the result and how much of the image is cropped."""
    result = model.result_size()
    if result is None:
        return ""
    cropped = model.cropped()
    if cropped is None:
        text = QCoreApplication.translate("ImageInput", "Result: {0} × {1} pixels.")
        return text.format(*result)
    if cropped[0] == "sides":
        text = QCoreApplication.translate(
            "ImageInput", "Result: {0} × {1} pixels; {2} % of the image is cropped at the sides."
        )
    else:
        text = QCoreApplication.translate(
            "ImageInput", "Result: {0} × {1} pixels; {2} % of the image is cropped at top and bottom."
        )
    return text.format(*result, cropped[1])


def part_words(model: ImageInputModel) -> str:
    """Describe which part is generated; empty for the whole image."""
    parts = []
    if model.mask() is not None:
        parts.append(QCoreApplication.translate("ImageInput", "Only the masked area is generated."))
    outpaint_padding = model.outpaint_padding()
    sides = (
        (QCoreApplication.translate("ImageInput", "left {0}"), outpaint_padding.left),
        (QCoreApplication.translate("ImageInput", "top {0}"), outpaint_padding.top),
        (QCoreApplication.translate("ImageInput", "right {0}"), outpaint_padding.right),
        (QCoreApplication.translate("ImageInput", "bottom {0}"), outpaint_padding.bottom),
    )
    grows = ", ".join(words.format(pixels) for words, pixels in sides if pixels)
    if grows:
        parts.append(QCoreApplication.translate("ImageInput", "Canvas extended: {0} pixels.").format(grows))
    return " ".join(parts)

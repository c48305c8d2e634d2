import gzip
import json
from pathlib import Path

import pytest
from PIL import Image

from mezzotint.images.metadata import NOTE, read_metadata
from mezzotint.images.programs.stealth import hidden_texts
from mezzotint.images.untrusted import MAX_TEXT, UnreadableError

INFOTEXT = "a red house \U0001f3e0\nSteps: 20, Sampler: Euler a, Seed: 5, Size: 64x64"


def hide(
    path: Path, payload: bytes, signature: bytes, *, size: tuple[int, int] = (37, 61), bits: int | None = None
) -> Path:
    """Write an image with a payload in the lowest bits of its alpha, or of its colours, down the columns."""
    whole = signature + (8 * len(payload) if bits is None else bits).to_bytes(4, "big") + payload
    ones = [byte >> shift & 1 for byte in whole for shift in range(7, -1, -1)]
    in_alpha = b"rgb" not in signature
    image = Image.new("RGBA" if in_alpha else "RGB", size, (254, 252, 250, 254) if in_alpha else (254, 252, 250))
    pixels, per_pixel = image.load(), 1 if in_alpha else 3
    for start in range(0, len(ones), per_pixel):
        x, y = divmod(start // per_pixel, size[1])
        if x < size[0]:
            values = list(pixels[x, y])
            for channel, bit in enumerate(ones[start : start + per_pixel], 3 if in_alpha else 0):
                values[channel] += bit
            pixels[x, y] = tuple(values)
    image.save(path)
    return path


@pytest.mark.parametrize("suffix", ["png", "webp"])
@pytest.mark.parametrize("signature", [b"stealth_pnginfo", b"stealth_pngcomp", b"stealth_rgbinfo", b"stealth_rgbcomp"])
def test_infotexts_are_found_in_alpha_and_colours(tmp_path: Path, signature: bytes, suffix: str) -> None:
    payload = INFOTEXT.encode()
    path = hide(tmp_path / "a.png", gzip.compress(payload) if b"comp" in signature else payload, signature)
    if suffix == "webp":
        with Image.open(path) as image:
            image.save(path := tmp_path / "a.webp", lossless=True, exact=True)
    found = read_metadata(path)
    assert (found.program, found.prompt, found.seed) == ("a1111", "a red house \U0001f3e0", 5)


def test_novelais_texts_are_found_and_other_json_is_a_text(tmp_path: Path) -> None:
    texts = {"Software": "NovelAI", "Description": "a {cat}", "Comment": json.dumps({"seed": 3, "steps": 9}), "n": 1}
    path = hide(tmp_path / "a.png", gzip.compress(json.dumps(texts).encode()), b"stealth_pngcomp")
    found = read_metadata(path)
    assert (found.program, found.prompt, found.seed) == ("novelai", "a {cat}", 3)
    swarm = json.dumps({"sui_image_params": {"prompt": "a swarm"}}).encode()
    assert read_metadata(hide(tmp_path / "b.png", swarm, b"stealth_pnginfo")).program == "swarmui"


@pytest.mark.parametrize(
    ("payload", "bits", "why"),
    [
        (b"x", 1 << 31, "at most"),
        (b"x", 8 * 5000, "cut off"),
        (b"no gzip", None, "damaged"),
        (gzip.compress(bytes(5 * MAX_TEXT)), None, "unpacks to more"),
    ],
)
def test_hostile_payloads_leave_a_note(tmp_path: Path, payload: bytes, bits: int | None, why: str) -> None:
    path = hide(tmp_path / "a.png", payload, b"stealth_pngcomp", size=(128, 128), bits=bits)
    found = read_metadata(path)
    assert found.program == "unknown" and why in found.other[NOTE]
    with Image.open(path) as image, pytest.raises(UnreadableError):
        hidden_texts(image)


def test_images_without_a_payload_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, image in (
        ("a.png", Image.new("RGBA", (2, 2))),
        ("b.png", Image.new("L", (64, 64))),
        ("c.jpg", Image.new("RGB", (64, 64))),
    ):
        image.save(tmp_path / name)
        assert read_metadata(tmp_path / name).program == "unknown"
    path = hide(tmp_path / "d.png", INFOTEXT.encode(), b"stealth_pnginfo")
    (tmp_path / "cut.png").write_bytes(path.read_bytes()[:100])
    assert read_metadata(tmp_path / "cut.png").program == "unknown"
    monkeypatch.setattr("mezzotint.images.programs.stealth.MAX_PIXELS", 100)
    assert read_metadata(path).program == "unknown"

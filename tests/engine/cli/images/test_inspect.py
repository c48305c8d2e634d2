"""`mezzotint inspect`: what an image says, made harmless."""

import pytest

from mezzotint.cli.context import standard_metadata
from mezzotint.codec import decode
from mezzotint.errors import StorageError
from mezzotint.protocol import GenerateRequest, ImageMetadata

VALUES = dict.fromkeys(ImageMetadata.__slots__)
FOUND = ImageMetadata(
    **VALUES
    | {
        "program": "a1111",
        "prompt": "a barn\n\x1b]0;title\x07",
        "width": 512,
        "height": 768,
        "guidance_scale": 6.5,
        "seed": 0,
        "other": {"Clip skip": "2", "prompt": "another"},
    }
)


def test_what_is_known_is_shown_readably_and_harmlessly(command):
    done = command("inspect", "a.png", metadata=FOUND)
    assert done.code == 0
    assert done.out.splitlines() == [
        "program    a1111",
        "prompt     a barn\\n\\x1b]0;title\\x07",
        "seed       0",
        "guidance   6.5",
        "size       512x768",
        "Clip skip  2",
    ]


def test_ours_can_be_made_again(command):
    ours = ImageMetadata(**VALUES | {"program": "mezzotint", "other": {}, "request": GenerateRequest(prompt="a")})
    assert "generate --from" in command("inspect", "a.png", metadata=ours).err


def test_as_json(command):
    assert decode(ImageMetadata, command("inspect", "a.png", "--json", metadata=FOUND).json) == FOUND


def test_the_real_reader_refuses_what_is_no_image(tmp_path):
    with pytest.raises(StorageError):
        standard_metadata(tmp_path / "nothing.png")

"""What is being done, and names of builds and cards."""

import pytest

from mezzotint_app.viewmodel.engine_setup.facts import Gpu
from mezzotint_app.viewmodel.engine_setup.texts import build_text, cards_text, work_text

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.mark.parametrize("phase", ["download", "build", "prove", "switch", ""])
def test_each_phase_has_its_words(phase):
    assert work_text(phase, None, None)
    assert work_text("download", (1, 2), None) == "Downloading: 1 byte of 2 bytes"


def test_cards_and_builds(qapp):
    class Facts:
        gpus = (
            Gpu(vendor="nvidia", name="A", memory_bytes=12 << 30, capability=(8, 6)),
            Gpu(vendor="amd", name="B", target="gfx1100"),
        )

    assert cards_text(Facts()) == "A, 12.0 GB, compute capability 8.6\nB, gfx1100"
    Facts.gpus = ()
    assert "none" in cards_text(Facts())
    assert build_text("newer") == "newer" and build_text("cu130") != "cu130"

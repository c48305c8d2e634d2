"""The whole window without processes, for every test of the app."""

import pytest
from collected_here import collected_here  # noqa: F401  for every test
from window_parts import asked, program, used, window  # noqa: F401  fixtures


@pytest.fixture(autouse=True)
def english(qapp):
    """Also where no widget is made: texts with a number have their forms in the catalogue."""

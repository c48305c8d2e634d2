"""What the tests of attention share."""

import pytest


class Notices(list):
    """Collects what is told."""

    def __call__(self, code, message):
        self.append((code, message))


@pytest.fixture
def notices():
    return Notices()

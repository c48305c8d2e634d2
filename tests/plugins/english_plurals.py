"""The window's texts with their English plurals, as the program shows them."""

import pytest


@pytest.fixture(scope="session")
def qapp(qapp):
    """Qt's application, which speaks English."""
    from mezzotint_app import language

    language.install(qapp, "en")
    return qapp

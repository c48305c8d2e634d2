"""The window's texts with English plurals, as the program displays them."""

import pytest


@pytest.fixture(scope="session")
def qapp(qapp):
    """The Qt application with the English translation installed."""
    from mezzotint_app import language

    language.install(qapp, "en")
    return qapp

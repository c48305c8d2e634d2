"""The models that a test module's pages show."""

import pytest
from fake_service import FakeService

from mezzotint_app.viewmodel.models.models import ModelLibrary


@pytest.fixture
def library(request, qapp, service):
    """The library with the module's `MODELS`."""
    made = ModelLibrary(service, FakeService())
    made.refresh()
    service.answer(request.module.MODELS, "models")
    return made

"""Download in this process, without delays between retries: a separate process for each takes a second.

from fetched_here import children, fetched_here  # noqa: F401  where most tests are not about those processes
"""

import pytest
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

from mezzotint.codec import decode_event, encode
from mezzotint.library import fetching, hub_search, offer
from mezzotint.library.downloads import download
from mezzotint.library.downloads import transfer as download_transfer


@pytest.fixture
def children():
    """Makes a test download in separate processes, as the program does."""


@pytest.fixture(autouse=True)
def fetched_here(request, monkeypatch):
    """Makes all other tests download in this process."""
    if "children" in request.fixturenames:
        yield
        return

    def run(command, tell, cancelled):
        return encode(
            fetching.answer(
                command.words[-1], command.given.encode(), lambda message: tell(decode_event(message["event"]))
            )
        )

    monkeypatch.setattr(download_transfer, "PATIENCE", (0.0,))
    for module in (download, hub_search, offer):
        monkeypatch.setattr(module, "run_child", run)
    yield
    set_client_factory(default_client_factory)

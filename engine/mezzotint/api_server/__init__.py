"""The local HTTP API with A1111's endpoints; web/http_server.py alone opens a port, and only for `mezzotint serve`."""

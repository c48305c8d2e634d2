"""What tests of the library share."""

from model_server import model_server

__all__ = ["model_server"]

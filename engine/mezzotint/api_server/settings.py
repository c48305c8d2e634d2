"""A1111's `options`: what requests leave open. They last until the server ends."""

import threading
from collections.abc import Callable, Sequence

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.generation import check_settings, clip_skip
from mezzotint.api_server.names import model_named
from mezzotint.protocol import ModelInfo


class ServerSettings:
    """The settings that can be changed; the others are only shown."""

    def __init__(self, checkpoint: str) -> None:
        self._lock = threading.Lock()
        self._checkpoint, self._clip_skip, self._previews = checkpoint, 0, True

    def now(self) -> tuple[str, int, bool]:
        """The model's id, clip skip, and whether there are previews."""
        with self._lock:
            return self._checkpoint, self._clip_skip, self._previews

    def shown(self) -> dict[str, object]:
        """All of them in A1111's form."""
        checkpoint, skip, previews = self.now()
        return {
            "sd_model_checkpoint": checkpoint,
            "sd_checkpoint_hash": "",
            "sd_vae": "Automatic",
            "CLIP_stop_at_last_layers": skip + 1,
            "live_previews_enable": previews,
            "samples_format": "png",
        }

    def change(self, fields: Fields, models: Callable[[], Sequence[ModelInfo]]) -> None:
        """Change those that are given; others are left, as clients send all that they know. Raises Refusal."""
        checkpoint, skip, previews = self.now()
        name = fields.text("sd_model_checkpoint")
        checkpoint = model_named(name, models(), "sd_model_checkpoint") if name else checkpoint
        skip = clip_skip(fields, skip)
        previews = fields.flag("live_previews_enable", previews)
        check_settings(fields)
        with self._lock:
            self._checkpoint, self._clip_skip, self._previews = checkpoint, skip, previews

"""Where the training images of composed scenes come from: the subjects, and the painter of their scenes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from mezzotint_starter.scenes.painting import ScenePainter
from mezzotint_starter.scenes.sprites import read_sprites
from mezzotint_starter.scenes.subjects import Subject, read_subjects
from mezzotint_starter.scenes.world import ComposedScene, judging_scene, training_scene


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSource:
    """Scenes by number, and their images."""

    subjects: tuple[Subject, ...]
    painter: ScenePainter
    seed: int

    def training(self, index: int) -> ComposedScene:
        """Return the training scene with this index."""
        return training_scene(self.subjects, self.seed, index)

    def judging(self, index: int) -> ComposedScene:
        """Return the scene with this index of those held out from training."""
        return judging_scene(self.subjects, self.seed, index)


def read_source(folder: Path, seed: int) -> SceneSource:
    """Return the source of all subjects, fetched into the folder if they are missing there. Raises StorageError."""
    subjects = read_subjects(folder)
    return SceneSource(subjects=subjects, painter=ScenePainter(read_sprites(subjects, folder)), seed=seed)


def image_tensor(image: Image.Image) -> Tensor:
    """Return an RGB image as (3, h, w) from -1 to 1."""
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 127.5 - 1

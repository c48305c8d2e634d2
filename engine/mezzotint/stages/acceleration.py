"""How a job's denoisers run: compiled blocks, captured steps, float16 accumulation, and options that trade fidelity."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from mezzotint.acceleration.captured_steps import CapturedSteps
from mezzotint.acceleration.compiled_blocks import CompiledBlocks
from mezzotint.acceleration.speedups import Speedups, speeding_up, why_not_captured
from mezzotint.attention.session import AttentionSession
from mezzotint.families.family import LoadedModel, Network
from mezzotint.gpu import gpu
from mezzotint.memory.blocks import blocks_of
from mezzotint.quantization.products.products import nf4_layers
from mezzotint.stages.setup import StageSetup


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceleration:
    """What is in use in all stages of a job."""

    compiler: CompiledBlocks | None = None
    captures: CapturedSteps | None = None  # steps as CUDA graphs
    fast: bool = False  # matmuls accumulate in float16

    @property
    def compiled(self) -> bool:
        """Whether compiled blocks were used."""
        return self.compiler is not None and not self.compiler.failure

    def forget(self) -> None:
        """Drop captured steps, before one is repeated."""
        if self.captures is not None:
            self.captures.forget()

    @contextmanager
    def running(
        self,
        model: LoadedModel,
        stage: StageSetup,
        session: AttentionSession,
        size: tuple[int, int],
        streamed: Callable[[], int],
    ) -> Iterator[Speedups]:
        """Context manager: a stage's denoiser runs so.

        `size`: rows and columns of latents; `streamed`: how many of its blocks are streamed now.
        """
        network = model.networks[stage.family.denoiser_component]
        sped_up = speeding_up(network, session, stage.sampling, self.tokens(stage, size))
        captured = self._capturing(network, stage, streamed)
        with self._accumulating(model), self._compiling(network), captured, sped_up as speedups:
            yield speedups

    @staticmethod
    def tokens(stage: StageSetup, size: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of image tokens of a stage, or of a U-Net's latents, for latents of that size."""
        patch = stage.family.multiple(stage.sources) // stage.sources.vae_factor
        return size[0] // patch, size[1] // patch

    def _accumulating(self, model: LoadedModel) -> AbstractContextManager[None]:
        found = gpu(model.device.type) if self.fast else None
        return nullcontext() if found is None else found.accumulating_in_float16()

    def _compiling(self, network: Network) -> AbstractContextManager[None]:
        return nullcontext() if self.compiler is None else self.compiler.running(network, blocks_of(network))

    def _capturing(
        self, network: Network, stage: StageSetup, streamed: Callable[[], int]
    ) -> AbstractContextManager[None]:
        if self.captures is None:
            return nullcontext()

        def refusal() -> str:
            if self.compiler is not None:
                return "blocks are compiled"
            if why_not := why_not_captured(stage.sampling):
                return why_not
            if stage.regions:
                return "regional prompts call attention several times"
            if stage.controls:
                return "what control images add changes with each step"
            if stage.tile:
                return "tiles alternate"
            if any(True for _ in nf4_layers(network)):
                return "products of bitsandbytes are not captured"
            count = streamed()
            return f"{count} blocks of {stage.family.denoiser_component} are streamed" if count else ""

        return self.captures.running(network, refusal)

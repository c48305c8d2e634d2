"""A job's settings and outputs, and the result that reports both."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mezzotint.machine import PeakMemory
from mezzotint.protocol import (
    SCHEMA_VERSION,
    DeviceInfo,
    Dtype,
    GeneratedImage,
    GenerateResult,
    MemoryReport,
    Timings,
)
from mezzotint.quantization.products.products import ProductSession
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.saving import JobRecord
from mezzotint.stages.models.precision import Schemes
from mezzotint.stages.setup import CascadeSetup

if TYPE_CHECKING:
    from mezzotint.attention.session import AttentionSession
    from mezzotint.stages.job_plan import JobPlan
    from mezzotint.stages.pipeline import Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedJob:
    """The resolved settings of a job."""

    setup: CascadeSetup
    device: DeviceInfo
    dtype: Dtype
    fast: bool  # matmuls accumulate in float16 while denoising
    schemes: Schemes
    job_plan: "JobPlan | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedJob:
    """A job whose models are in memory."""

    settled: ResolvedJob
    painter: "Pipeline"
    session: "AttentionSession"
    products: ProductSession
    memory: PeakMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class JobImages:
    """The output of one request."""

    setup: CascadeSetup
    at: JobRecord
    given: InputImages
    seed: int
    images: tuple[GeneratedImage, ...]
    timings: Timings
    notices: tuple[str, ...]
    together: int = 1


def result_of(work: LoadedJob, report: MemoryReport, made: JobImages) -> GenerateResult:
    """Return the images and all values used to generate them."""
    painter, session, products, job, at = work.painter, work.session, work.products, work.settled, made.at
    return GenerateResult(
        schema_version=SCHEMA_VERSION,
        images=made.images,
        seed=made.seed,
        stages=painter.resolved(made.setup.stages),
        transitions=made.setup.transitions,
        images_used=at.images_used,
        strength=made.setup.strength,
        device=at.device,
        device_name=at.device_name,
        dtype=at.dtype,
        attention=session.ran,
        threads=at.threads,
        versions=at.versions,
        timings=made.timings,
        memory=report,
        notices=made.notices,
        attention_asked=session.asked,
        attention_calls=session.calls,
        attention_fallbacks=session.fallbacks,
        products=products.integers.ran,
        product_calls=products.integers.calls,
        nf4_products=products.nf4.ran,
        nf4_calls=products.nf4.calls,
        product_fallbacks=products.fallbacks,
        quantization=job.schemes.denoiser,
        text_quantization=job.schemes.text,
        plan=None if job.job_plan is None else job.job_plan.plan,
        vae_tile=painter.vae_tile,
        guidance_passes=painter.guidance_passes,
        recoveries=painter.placement.recoveries,
        compiled=painter.compiled,
        fast=job.fast,
        merged_layers=painter.merged_layers,
        cuda_graphs=None if painter.captures is None else painter.captures.used,
        inpaint=None if made.given.canvas is None else made.given.canvas.used,
        together=made.together,
    )

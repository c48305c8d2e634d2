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
    from mezzotint.attention.linear.kernels import LinearAttentionCalls
    from mezzotint.attention.session import AttentionSession
    from mezzotint.normalization.session import GroupNormSession
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

    job: ResolvedJob
    pipeline: "Pipeline"
    session: "AttentionSession"
    products: ProductSession
    norms: "GroupNormSession"
    linear: "LinearAttentionCalls"
    memory: PeakMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class JobImages:
    """The output of one request."""

    setup: CascadeSetup
    record: JobRecord
    inputs: InputImages
    seed: int
    images: tuple[GeneratedImage, ...]
    timings: Timings
    notices: tuple[str, ...]
    together: int = 1


def result_of(work: LoadedJob, report: MemoryReport, output: JobImages) -> GenerateResult:
    """Return the images and all values used to generate them."""
    pipeline, session, products, job, record = work.pipeline, work.session, work.products, work.job, output.record
    return GenerateResult(
        schema_version=SCHEMA_VERSION,
        images=output.images,
        seed=output.seed,
        stages=pipeline.resolved(record.controls, output.setup.stages),
        transitions=output.setup.transitions,
        images_used=record.images_used,
        strength=output.setup.strength,
        device=record.device,
        device_name=record.device_name,
        dtype=record.dtype,
        attention=session.ran,
        threads=record.threads,
        versions=record.versions,
        timings=output.timings,
        memory=report,
        notices=output.notices,
        attention_asked=session.asked,
        attention_calls=session.calls,
        attention_fallbacks=session.fallbacks,
        linear_attention_calls=work.linear.calls,
        linear_attention_fallbacks=work.linear.fallbacks,
        products=products.ran,
        product_calls=products.calls,
        fused_product_calls=products.fused_calls,
        product_schemes=dict(products.schemes),
        nf4_products=products.nf4.ran,
        nf4_calls=products.nf4.calls,
        product_fallbacks=products.fallbacks,
        group_norm_calls=work.norms.calls,
        group_norm_fallbacks=work.norms.fallbacks,
        quantization=job.schemes.denoiser,
        text_quantization=job.schemes.text,
        plan=None if job.job_plan is None else job.job_plan.plan,
        vae_tile=pipeline.vae_tile,
        guidance_passes=pipeline.guidance_passes,
        recoveries=pipeline.placement.recoveries,
        compiled=pipeline.acceleration.compiled,
        fast=job.fast,
        merged_layers=pipeline.merged_layers,
        cuda_graphs=None if pipeline.acceleration.captures is None else pipeline.acceleration.captures.used,
        inpaint=output.inputs.inpaint,
        together=output.together,
    )

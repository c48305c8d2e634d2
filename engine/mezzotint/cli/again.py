"""An earlier image's own words as the start of a request: one rule for the command line and for batches."""

from mezzotint.batch.job.again import base_of as base_of
from mezzotint.batch.job.limits import MAX_GUIDANCE as MAX_GUIDANCE
from mezzotint.batch.job.limits import MAX_SEED as MAX_SEED
from mezzotint.batch.job.limits import MAX_STEPS as MAX_STEPS

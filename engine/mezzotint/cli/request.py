"""What a person said on the command line as a request: the words are those of a job file too."""

from mezzotint.batch.job.settings import HIRES_STRENGTH as HIRES_STRENGTH
from mezzotint.batch.job.settings import REFINER_AT as REFINER_AT
from mezzotint.batch.job.settings import Options as Options
from mezzotint.batch.job.settings import request_of as request_of

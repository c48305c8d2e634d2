"""How many tasks a job will have."""

import pytest
from batch_programs import painted

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.tasks.counting import expected_tasks
from mezzotint.batch.tasks.tasks import Shard, tasks_of

WORDS = Prompts(list=("a {red|blue} house", "a boat"))
OUT = JobOutput(folder="out")


@pytest.fixture
def images(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(6):
        painted(number).save(tmp_path / "in" / f"{number}.png")
    return tmp_path


@pytest.mark.parametrize(
    "job",
    [
        JobFile(prompts=WORDS, output=OUT, matrix=(("seed", (1, 2)),)),
        JobFile(prompts=WORDS, output=OUT, input=InputFolder(folder="in")),
        JobFile(prompts=WORDS, output=OUT, input=InputFolder(folder="in", limit=4), matrix=(("steps", (4, 8)),)),
    ],
)
def test_as_many_as_come(images, job):
    assert expected_tasks(job, base=images) == len(list(tasks_of(job, base=images)))


def test_of_words_a_shards_part_exactly_of_images_about(images):
    shard = Shard(index=0, count=2)
    words = JobFile(prompts=WORDS, output=OUT, matrix=(("seed", tuple(range(9))),))
    assert expected_tasks(words, base=images, shard=shard) == len(list(tasks_of(words, base=images, shard=shard)))
    assert (
        expected_tasks(JobFile(prompts=WORDS, output=OUT, input=InputFolder(folder="in")), base=images, shard=shard)
        == 9
    )


def test_a_first_image_that_is_none_says_nothing_of_the_others(images):
    (images / "in" / "0.png").write_bytes(b"no image")
    job = JobFile(prompts=WORDS, output=OUT, input=InputFolder(folder="in"))
    assert expected_tasks(job, base=images) == 6 * 3
    for number in range(6):
        (images / "in" / f"{number}.png").write_bytes(b"no image")
    assert expected_tasks(job, base=images) == 6


def test_an_empty_folder(tmp_path):
    (tmp_path / "in").mkdir()
    assert expected_tasks(JobFile(prompts=WORDS, output=OUT, input=InputFolder(folder="in")), base=tmp_path) == 0

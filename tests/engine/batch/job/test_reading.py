"""Job files: what is understood, and that nothing else is let through."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.job.reading import parse_job, read_job
from mezzotint.batch.tasks.cells import cells_of
from mezzotint.errors import MezzotintError, StorageError, UsageError
from mezzotint.options import Options

WHOLE = """
version = 1
title = "Trees"
[settings]
model = "starter-dit"
size = "128x96"
steps = 8
guidance = 3
lora = ["ink.safetensors:0.5"]
strict = true
[prompts]
list = ["a tree"]
file = "more.txt"
table = "rows.csv"
template = "a {kind}"
wildcards = "w"
choices = "one"
[input]
folder = "in"
recursive = true
glob = "*.png"
limit = 5
masks = "m"
sidecars = true
[matrix]
steps = [8, 9]
sampler = ["euler"]
[output]
folder = "o"
name = "[stem]"
format = "webp"
keep-tree = false
batch-size = 6
existing = "skip"
"""


def parse(text, name="job.toml"):
    return parse_job(text.encode(), name)


def refused(text, name="job.toml"):
    with pytest.raises(UsageError) as caught:
        parse(text, name)
    return str(caught.value)


def test_all_that_a_job_may_say():
    job = parse(WHOLE)
    assert job.title == "Trees"
    assert (job.settings.size, job.settings.guidance, job.settings.strict) == ((128, 96), 3.0, True)
    assert job.settings.lora[0].weight == 0.5
    assert job.prompts == Prompts(
        list=("a tree",), file="more.txt", table="rows.csv", template="a {kind}", wildcards="w", choices="one"
    )
    assert job.input == InputFolder(
        folder="in", recursive=True, glob=("*.png",), limit=5, masks="m", sidecars=True, work="change"
    )
    assert job.matrix == (("steps", (8, 9)), ("sampler", ("euler",)))
    assert job.output == JobOutput(
        folder="o", name="[stem]", format="webp", keep_tree=False, existing="skip", batch_size=6
    )


def test_json_says_the_same_as_toml():
    assert parse(json.dumps(tomllib.loads(WHOLE)), "job.JSON") == parse(WHOLE)


def test_how_many_together_may_be_left_to_the_device():
    assert parse(WHOLE.replace("batch-size = 6", 'batch-size = "auto"')).output.batch_size is None


def test_the_earlier_word_for_a_fill_is_read():
    job = parse(
        'version = 1\nprompts.list = "a"\nsettings.inpaint-fill = "picture"\nmatrix.inpaint-fill = ["picture"]\n'
    )
    assert job.settings.inpaint_fill == "original"
    assert [cell.settings for cell in cells_of(job.matrix)] == [{"inpaint_fill": "original"}]


def test_what_is_not_said_is_as_the_job_has_it():
    assert parse('version = 1\nprompts.list = "a"\n') == JobFile(prompts=Prompts(list=("a",)), settings=Options())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("steps = 8\n", 'steps = "8"\n', "job.toml, line 7: settings.steps: '8' is invalid"),
        ("steps = 8\n", "step = 8\n", "line 7: settings.step: unknown name; did you mean steps"),
        ("guidance = 3", "guidance_rescale = 0.5", "did you mean guidance-rescale"),
        ("guidance = 3", "guidance = 101", "line 8"),
        ("guidance = 3", "guidance = nan", "line 8"),
        ("limit = 5", "limit = 0", "input.limit"),
        ("recursive = true", "recursive = 1", "line 20"),
        ('folder = "in"', "folder = 7", "input.folder"),
        ('format = "webp"', 'format = "gif"', "png, jpg, webp"),
        ("batch-size = 6", "batch-size = 0", "output.batch-size: '0' is invalid"),
        ("batch-size = 6", "batch-size = 65", "from 1 to 64"),
        ("batch-size = 6", "batch-size = true", "line 33"),
        ("[8, 9]", "[]", "matrix.steps"),
        ("[8, 9]", "[8, 0]", "line 26: matrix.steps: '0' is invalid"),
        ("sampler = [", "init = [", "matrix.init"),
        ("[output]", "[outputs]", "outputs: unknown name; did you mean output"),
        ("version = 1", "version = 2", "newer Mezzotint"),
        ("version = 1", "version = true", "not a version"),
        ("version = 1", "", "has no version"),
        ('list = ["a tree"]', 'list = ["a tree", 7]', "prompts.list"),
        ('title = "Trees"', 'title = "Tre\\u0007es"', "title"),
        ('title = "Trees"', "title = 1979-05-27", "title"),
        ("[prompts]", "[settings]", "TOML"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(old, new, words):
    assert old in WHOLE
    assert words in refused(WHOLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1", "nothing to generate"),
        ('version = 1\nprompts.list = "a"\nprompts.template = "b"', "template"),
        ("version = 1\n[input]\nlimit = 3", "folder"),
        ('version = 1\n[input]\nfolder = "a"\n[settings]\ninit = "b.png"', "init"),
        ('version = 1\n[input]\nfolder = "a"\nwork = "again"\nmasks = "m"', "masks"),
        ('version = 1\n[[request]]\nprompt = "a"\n[prompts]\nlist = "b"', "have their own prompts"),
        ('version = 1\n[[request]]\nprompt = "a"\nwishes = 3', "wishes"),
        ('version = 1\nprompts.list = "a"\nsettings.seed = 3\nmatrix.seed = [1]', "seed"),
        ("version = 1\nrequest = 3", "[[request]]"),
        ("version = 1\nsettings = 3", "not a table"),
        (f"version = 1\nprompts.list='a'\n[matrix]\nseed = {list(range(101))}\nsteps = {list(range(1, 101))}", "10100"),
    ],
)
def test_parts_that_do_not_go_together(text, words):
    assert words in refused(text)


@pytest.mark.parametrize("text", ["[" * 5000, "a = " + "[" * 5000, "{" * 5000, "\0", "version = 1e999", "a=1\na=2"])
@pytest.mark.parametrize("name", ["job.toml", "job.json"])
def test_texts_made_to_hurt(text, name):
    assert name in refused(text, name)


@given(st.binary(max_size=60), st.sampled_from(["a.toml", "a.json", "a.txt"]))
def test_any_bytes_give_a_job_or_one_line(data, name):
    try:
        parse_job(data, name)
    except MezzotintError as error:
        assert "\n" not in str(error)


def test_files(tmp_path):
    path = tmp_path / "job.toml"
    path.write_bytes(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert read_job(path) == parse(WHOLE)
    with pytest.raises(StorageError, match="does not exist"):
        read_job(tmp_path / "none.toml")
    with pytest.raises(StorageError, match="folder"):
        read_job(tmp_path)
    path.write_bytes("é".encode("latin-1"))
    with pytest.raises(UsageError, match="UTF-8"):
        read_job(path)


def test_long_names_and_files_of_toml_are_refused_at_once(tmp_path):
    with pytest.raises(UsageError, match="not valid TOML: a name has more than 32 parts"):
        parse_job(b"version = 1\n" + b"settings." * 20_000 + b"x = 1", "job.toml")
    path = tmp_path / "job.toml"
    path.write_bytes(b"#" * (4 << 20) + b"#")
    with pytest.raises(StorageError, match="larger than"):
        read_job(path)

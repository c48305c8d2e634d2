"""The command that is copied makes the same request."""

import shlex
from dataclasses import replace

import pytest
from create_forms import FORMS
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.batch.job.settings import request_of as request_of_words
from mezzotint.cli.generate_options import options_of
from mezzotint.cli.parser import make_parser
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, LoraRef, Output, Stage, Transition
from mezzotint_app.viewmodel.create.command_line import command_line, quoted
from mezzotint_app.viewmodel.create.request import Form, request_of


def parsed(words):
    assert words[0] == "mezzotint"
    return request_of_words(options_of(make_parser().parse_args(list(words[1:]))))


def comparable(request):
    """Without what no option says and no pixel depends on."""
    grows = request.inpaint is not None and (request.inpaint.left or request.inpaint.bottom)
    masked = any(image.role == "mask" for image in request.images)
    return replace(
        request,
        previews=False,
        loras=tuple(replace(one, sha256=None) for one in request.loras),
        inpaint=request.inpaint if grows or masked else None,  # else it is about nothing
    )


@given(FORMS)
@example(Form(model="--", prompt="--", negative_prompt="--", images=(ImageInput(path="--"),)))
def test_the_command_lines_own_parser_reads_the_same_request(form):
    request = request_of(form)
    command = command_line(request)
    assert command.left_out == ()
    assert parsed(command.words) == comparable(request)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1))
def test_a_shell_gives_the_words_back(words):
    assert shlex.split(quoted(words, "linux")) == words
    assert quoted(words, "darwin") == quoted(words, "linux")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1))
def test_powershell_gives_the_words_back(words):
    assert powershell_words(quoted(words, "win32")) == words


def powershell_words(line):
    """Words as PowerShell divides them: only single quotes are used, doubled where they are meant."""
    quotes = "'\u2018\u2019\u201a\u201b"
    words, word, inside, place = [], None, False, 0
    while place < len(line):
        letter = line[place]
        if letter in quotes and inside and line[place + 1 : place + 2] and line[place + 1] in quotes:
            word += letter
            place += 1
        elif letter in quotes:
            inside, word = not inside, word or ""
        elif letter == " " and not inside:
            words.append(word)
            word = None
        else:
            assert inside or letter.isalnum() or letter in "_-+=./:\\"
            word = (word or "") + letter
        place += 1
    return [*words, word]


def test_words_that_a_shell_would_expand_are_quoted():
    words = command_line(GenerateRequest(prompt="$(rm -rf ~) `x` %PATH% it's", output=Output(path="out/[seed].png")))
    assert words.text("linux").endswith("--output 'out/[seed].png' '$(rm -rf ~) `x` %PATH% it'\"'\"'s'")
    assert words.text("win32").endswith("--output 'out/[seed].png' '$(rm -rf ~) `x` %PATH% it''s'")


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (
            GenerateRequest(
                prompt="a",
                cascade=Cascade(stages=(Stage(), Stage(prompt="b")), transitions=(Transition(strength=0.5),)),
            ),
            "prompts of single stages",
        ),
        (
            GenerateRequest(
                prompt="a",
                cascade=Cascade(
                    stages=(Stage(),) * 3, transitions=(Transition(strength=0.5), Transition(strength=0.4))
                ),
            ),
            "stage 3",
        ),
    ],
)
def test_what_no_option_says_is_told(request_, told):
    assert told in " ".join(command_line(request_).left_out)


def test_a_lora_is_named_with_its_weight_even_where_its_name_looks_like_one():
    command = command_line(GenerateRequest(prompt="a", loras=(LoraRef(path="C:0.5", weight=1.0),)))
    assert parsed(command.words).loras == (LoraRef(path="C:0.5", weight=1.0),)

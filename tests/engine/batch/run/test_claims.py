"""The files that tasks of one run have."""

from dataclasses import replace

from batch_programs import task
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.run.claims import Claims
from mezzotint.batch.tasks.inputs import folded


def test_the_first_has_it_and_keeps_it(tmp_path):
    claims, first, second = Claims(tmp_path), task(1, tmp_path), task(2, tmp_path)
    assert claims.claim("a.png", first) and claims.claim("a.png", first)
    assert not claims.claim("a.png", second)
    assert claims.claim("b.png", second)


def test_a_task_whose_input_has_changed_is_the_same(tmp_path):
    claims, one = Claims(tmp_path), task(1, tmp_path)
    assert claims.claim("a.png", one)
    assert claims.claim("a.png", replace(one, key="other", input_hash="1" * 64))


def test_twins_of_any_disk_are_one_file(tmp_path):
    claims = Claims(tmp_path)
    assert claims.claim("\u00e4/a.png", task(1, tmp_path))
    assert not claims.claim("A\u0308/A.PNG", task(2, tmp_path))


@given(st.lists(st.sampled_from(["a.png", "A.png", "a-1.png", "b/a.b.png"]), max_size=12))
def test_beside_it_nobody_and_nothing_is(tmp_path_factory, outputs):
    folder = tmp_path_factory.mktemp("out")
    (folder / "a-1.png").touch()
    claims, had = Claims(folder), set()
    for number, output in enumerate(outputs):
        one = task(number, folder)
        name = output if claims.claim(output, one) else claims.claim_beside(output, one)
        assert folded(name) not in had
        assert name == output or not (folder / name).exists()
        had.add(folded(name))

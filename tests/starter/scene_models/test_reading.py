from drawn_things import small_source

from mezzotint_starter.scene_models.reading import reading_lessons, said
from mezzotint_starter.scenes.captions import StatedFacts, StatedThing


def test_roles_are_in_the_order_of_the_words():
    first = StatedThing(name="ball", colour="red", size=None, side="right")
    second = StatedThing(name="box", colour=None, size="small", side="left")
    told = said(StatedFacts(things=(first, second), number=2, terrain="sea", time=None, weather=None, style="flat"))
    assert (told["first"], told["first colour"], told["first side"]) == ("ball", "red", "right")
    assert (told["second"], told["second colour"], told["second size"]) == ("box", None, "small")
    assert (told["number"], told["terrain"], told["time"]) == ("2", "sea", None)


def test_every_question_has_an_answer_among_its_values():
    lessons = reading_lessons(small_source())
    texts, places = lessons.batch(0, 0)
    assert len(texts) == len(places)
    for name, values in lessons.values.items():
        found = {each[name] for each in places}
        assert found <= set(range(len(values) + 1))
        assert len(found) > 1

"""Over Generate it is told that the same image would come out again, with a way on."""

import pytest
from create_page import clicked, kit_of, page_of


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def test_a_repetition_is_told_before_it_is_made_and_a_random_seed_is_offered(kit, page, qtbot):
    notice = page.footer.repeats
    kit.create.seed.set(7)
    page.generate()
    qtbot.waitUntil(notice.isVisible)
    assert notice.text().endswith("this would generate the same image again.")
    clicked(notice.random)
    qtbot.waitUntil(notice.isHidden)
    assert kit.create.seed.value() is None

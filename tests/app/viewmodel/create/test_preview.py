"""The image that sharpens: the newest wins, whatever arrives in whatever order."""

import base64
from dataclasses import replace

import pytest
from create_page import Kit, generated, kit_of
from draining import result
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QByteArray, QObject, Signal
from PySide6.QtGui import QColor, QImage

from mezzotint.library_protocol import Pixels
from mezzotint.protocol import PLANNING, Decoding, Loading, Saved, StageShown, Step
from mezzotint_app.processes.service import Failure
from mezzotint_app.stored import read
from mezzotint_app.viewmodel.create.preview import MOST_RESULTS, decoded
from mezzotint_app.viewmodel.create.state import CreateState, Result
from mezzotint_app.viewmodel.models import made_pictures


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def jpeg(colour, side=16):
    image = QImage(side, side, QImage.Format.Format_RGB888)
    image.fill(QColor(colour))
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "JPEG")
    return base64.b64encode(bytes(buffer.data())).decode()


def step(number, preview, image=0, stage=0, stages=1):
    return Step(image=image, images=2, stage=stage, stages=stages, step=number, steps=4, sigma=1.0, preview=preview)


def begin(kit):
    kit.write().create.generate()
    kit.runner.begin(kit.tasks(kit.entries[-1])[0])
    return kit.runner.task()


def tell(kit, event):
    kit.runner.progressed.emit(kit.runner.task(), event)


def pixels_of(kit, colour, side=8):
    path = kit.folder / f"pixels-{colour}"
    path.write_bytes(bytes(QColor(colour).getRgb()[:3]) * side * side)
    return Pixels(
        path=str(path),
        layout="rgb",
        width=side,
        height=side,
        bytes_per_line=3 * side,
        image_width=side,
        image_height=side,
    )


def shown(kit):
    return kit.create.preview.image().pixelColor(4, 4).name()


def near(name, colour):
    a, b = QColor(name), QColor(colour)
    return all(abs(x - y) < 12 for x, y in zip(a.getRgb(), b.getRgb(), strict=True))


def test_previews_are_shown_as_they_come(kit):
    begin(kit)
    tell(kit, step(1, jpeg("red")))
    assert near(shown(kit), "red")
    tell(kit, step(2, jpeg("blue")))
    assert near(shown(kit), "blue")
    assert kit.create.preview.path() == ""
    assert "step 2 of 4" in kit.create.preview.line()


def test_a_slow_decoder_skips_what_is_old(kit):
    begin(kit)
    kit.pool.held = True
    for number, colour in enumerate(["red", "green", "blue"], 1):
        tell(kit, step(number, jpeg(colour)))
    assert len(kit.pool.waiting) == 1
    kit.pool.go()
    assert near(shown(kit), "blue")


def test_the_finished_image_takes_the_place_of_its_preview(kit):
    begin(kit)
    tell(kit, step(4, jpeg("red")))
    kit.pool.held = True
    tell(kit, step(4, jpeg("green")))
    tell(kit, Saved(image=generated("/p.png"), images=2))
    kit.runner.saved.emit(kit.runner.task(), generated("/p.png"))
    kit.pool.go()  # a preview that comes after the image was saved
    kit.librarian.answer(pixels_of(kit, "blue"), method="pixels")
    kit.pool.go()
    assert near(shown(kit), "blue")
    assert kit.create.preview.path() == "/p.png"
    assert [one.path for one in kit.create.preview.results()] == ["/p.png"]


def test_the_next_image_is_shown_though_the_last_one_loads_late(kit):
    begin(kit)
    tell(kit, Saved(image=generated("/p.png"), images=2))
    kit.runner.saved.emit(kit.runner.task(), generated("/p.png"))
    tell(kit, step(1, jpeg("red"), image=1))
    kit.librarian.answer(pixels_of(kit, "blue"), method="pixels")
    assert near(shown(kit), "red")


def test_an_older_result_that_was_chosen_stays_until_the_next_job(kit):
    preview = kit.create.preview
    begin(kit)
    tell(kit, step(1, jpeg("red")))
    preview.show_result("/old.png")
    assert not preview.is_following()
    kit.librarian.answer(pixels_of(kit, "blue"), method="pixels")
    tell(kit, step(2, jpeg("green")))
    assert near(shown(kit), "blue")
    preview.follow()
    tell(kit, step(3, jpeg("green")))
    assert near(shown(kit), "green")


def test_what_the_first_stage_ended_with_is_kept_for_comparison(kit):
    begin(kit)
    tell(kit, step(1, jpeg("red"), stages=2))
    tell(kit, step(4, jpeg("green"), stages=2))
    assert kit.create.preview.before().isNull()
    tell(kit, step(1, jpeg("blue"), stage=1, stages=2))
    before = kit.create.preview.before()
    assert near(before.pixelColor(4, 4).name(), "green")
    tell(kit, step(1, jpeg("red"), image=1, stages=2))
    assert kit.create.preview.before().isNull()


def test_the_first_stage_s_own_image_takes_the_place_of_its_preview(kit):
    begin(kit)
    preview = kit.create.preview
    tell(kit, step(4, jpeg("green"), stages=2))
    tell(kit, step(1, jpeg("blue"), stage=1, stages=2))
    tell(kit, Saved(image=generated("/p.png"), images=2))
    kit.runner.saved.emit(kit.runner.task(), generated("/p.png"))
    kit.librarian.answer(pixels_of(kit, "blue"), method="pixels")
    assert near(preview.before().pixelColor(4, 4).name(), "green")
    changes = []
    preview.image_changed.connect(lambda: changes.append(preview.before().width()))
    tell(kit, StageShown(image=0, images=2, stage=0, stages=2, jpeg=jpeg("red", side=64)))
    assert changes == [64] and near(preview.before().pixelColor(40, 40).name(), "red")
    tell(kit, step(1, jpeg("yellow"), image=1, stages=2))
    assert preview.before().isNull()
    kit.runner.end()
    preview.show_result("/p.png")
    kit.librarian.answer(pixels_of(kit, "blue"), method="pixels")
    assert preview.before().width() == 64


def test_while_a_model_loads_the_time_until_it_is_there_is_told(kit):
    clock = [0.0]
    now = kit.create.preview._now = lambda: clock[0]
    begin(kit)
    tell(kit, Loading(model="m", component="unet", bytes_done=0, bytes_total=100 << 20))
    clock[0] = now() + 10
    tell(kit, Loading(model="m", component="unet", bytes_done=25 << 20, bytes_total=100 << 20))
    line = kit.create.preview.line()
    assert "25.0 MB of 100.0 MB" in line and "30 s" in line
    tell(kit, Loading(model=PLANNING, component="unet", bytes_done=7, bytes_total=100))
    assert "7 %" in kit.create.preview.line() and "bytes" not in kit.create.preview.line()


@pytest.mark.parametrize("data", ["", "not base64!", base64.b64encode(b"no jpeg").decode(), "A" * (3 << 20)])
def test_garbage_is_no_image(kit, data):
    assert decoded(data).isNull()
    begin(kit)
    tell(kit, step(1, jpeg("red")))
    tell(kit, step(2, data))
    assert near(shown(kit), "red")
    tell(kit, step(3, jpeg("blue")))
    assert near(shown(kit), "blue")


def test_a_preview_in_another_format_or_too_large_is_none():
    image = QImage(5000, 2, QImage.Format.Format_RGB888)
    image.fill(0)
    for kind in ("PNG", "JPEG"):
        data = QByteArray()
        buffer = QBuffer(data)
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        image.save(buffer, kind)
        assert decoded(base64.b64encode(bytes(data.data())).decode()).isNull()


def test_how_far_it_is_and_how_it_ended(kit):
    preview = kit.create.preview
    assert (preview.is_working(), preview.line(), preview.fraction()) == (False, "", None)
    begin(kit)
    tell(kit, Loading(model="base", component="unet", bytes_done=1 << 30, bytes_total=2 << 30))
    assert preview.line() == "Loading base: 1.0 GB of 2.0 GB"
    assert preview.fraction() == 0.5
    tell(kit, Decoding(image=0, images=1))
    kit.runner.end(failure=Failure(kind="out_of_memory", message="The GPU ran out of memory."))
    assert (preview.is_working(), preview.line()) == (False, "The GPU ran out of memory.")
    begin(kit)
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert preview.line() == "Cancelled."
    begin(kit)
    kit.runner.end()
    assert preview.line() == ""


def test_the_last_results_the_newest_first_and_each_once(kit):
    begin(kit)
    for number in range(MOST_RESULTS + 3):
        kit.runner.saved.emit(kit.runner.task(), generated(f"/{number}.png", seed=number))
    kit.runner.saved.emit(kit.runner.task(), generated("/5.png"))
    results = kit.create.preview.results()
    assert len(results) == MOST_RESULTS
    assert results[0].path == "/5.png"
    assert len({one.path for one in results}) == MOST_RESULTS
    kit.create.preview.forget_result("/5.png")
    assert kit.create.preview.results()[0].path == f"/{MOST_RESULTS + 2}.png"
    kit.create.preview.bring_back("/5.png")
    kit.create.preview.bring_back("/5.png")
    assert kit.create.preview.results() == results


def test_the_last_results_are_there_again_after_a_restart(kit):
    begin(kit)
    for number in range(3):
        path = kit.folder / f"{number}.png"
        path.write_bytes(b"x")
        kit.runner.saved.emit(kit.runner.task(), generated(path, seed=number))
    (kit.folder / "1.png").unlink()
    kit.state.save()
    state, notice = read(CreateState, kit.folder / "create.json")
    assert (notice, state.prompt) == (None, "a house by the sea")
    later = Kit(kit.folder)
    later.state.change(**{one: getattr(state, one) for one in ("prompt", "results")})
    later.create.restore()
    assert [one.seed for one in later.create.preview.results()] == [2, 0]
    later.librarian.answer(pixels_of(later, "red"), method="pixels")
    assert later.create.preview.path() == str(kit.folder / "2.png")
    assert later.create.seed.can_reuse()
    later.close()


def test_what_cannot_be_restored_is_no_trouble(kit):
    path = kit.folder / "old.png"
    path.write_bytes(b"x")
    kit.create.preview.restore((Result(path=str(path), seed=1, width=8, height=8),))
    kit.librarian.fail("image_refused", "it is damaged", method="pixels")
    assert kit.create.preview.line() == ""


def test_what_is_made_meanwhile_comes_before_what_is_restored(kit):
    old = kit.folder / "old.png"
    old.write_bytes(b"x")
    begin(kit)
    kit.runner.saved.emit(kit.runner.task(), generated("/new.png", seed=2))
    kit.create.preview.restore((Result(path=str(old), seed=1, width=8, height=8),))
    assert [one.seed for one in kit.create.preview.results()] == [2, 1]
    assert [one.params.path for one in kit.librarian.open("pixels")] == ["/new.png"]


def test_a_result_that_is_gone_is_told(kit):
    kit.create.preview.show_result("/gone.png")
    kit.librarian.fail("image_refused", "There is no such file.", method="pixels")
    assert kit.create.preview.line() == "There is no such file."


@given(st.text(max_size=50))
def test_no_text_makes_the_decoder_fail(data):
    assert isinstance(decoded(data), QImage)


def test_how_the_last_ended_is_old_once_another_waits(kit):
    begin(kit)
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert kit.create.preview.line()
    assert kit.create.generate()
    assert kit.create.preview.line() == ""


def test_count_and_time_are_those_of_the_queue(kit):
    class Running(QObject):
        changed = Signal()

        def words(self):
            return "Image 4 of 15"

        def entry_seconds_left(self):
            return 120.0

    running, told = Running(), []
    kit.create.preview.count_as(running)
    assert kit.create.preview.line() == ""
    begin(kit)
    tell(kit, step(1, None))
    assert kit.create.preview.line() == "Image 4 of 15, about 2 min left"
    kit.create.preview.changed.connect(lambda: told.append(True))
    running.changed.emit()
    assert told


def test_where_the_time_of_the_last_job_went(kit):
    begin(kit)
    kit.runner.end(result([]))
    assert [one.kind for one in kit.create.preview.spans()] == ["load", "encode", "denoise", "decode", "save"]
    begin(kit)
    assert kit.create.preview.spans() == ()
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert kit.create.preview.spans() == ()


def test_a_generated_thumbnail_is_no_result(kit):
    task, preview = begin(kit), kit.create.preview
    path = str(made_pictures.folder() / "x.png")
    picture = replace(task, request=replace(task.request, output=replace(task.request.output, path=path)))
    kit.runner.begin(picture)
    tell(kit, step(1, jpeg("red")))
    kit.runner.saved.emit(picture, generated(path))
    kit.runner.end(result([generated(path)]))
    assert preview.results() == () and preview.image().isNull() and preview.spans() == ()

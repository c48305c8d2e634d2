"""The check: what training would see of a folder."""

import subprocess
import sys

import pytest

from mezzotint.training.dataset.checking import BucketCount, check


def test_a_report_of_a_folder(put, read):
    for number in range(4):
        put(f"10_castle/{number}.png", size=(128, 128))
    put("a.png", None, size=(256, 128))
    put("reg/b.png", size=(128, 128))
    dataset = read()
    report = check(dataset, resolution=128, multiple=16)
    assert (report.images, report.regularization, report.captioned, report.per_epoch) == (5, 1, 5, 42)
    assert report.buckets == (BucketCount(width=128, height=128, images=5), BucketCount(width=160, height=96, images=1))
    assert [crop.path for crop in report.crops] == [image.path for image in dataset.images]
    assert [round(crop.crop.cut, 3) for crop in report.crops] == [0, 0, 0, 0, 0.167, 0]
    assert report.is_trainable
    assert [one.message for one in report.problems] == ["a.png has no caption; write what it shows into a.txt"]


def test_an_empty_folder_cannot_be_trained_on(read):
    report = check(read(), resolution=512, multiple=64)
    assert not report.is_trainable
    assert report.buckets == report.crops == ()
    assert [one.severity for one in report.problems] == ["error"]


def test_errors_come_first(folder, put, read):
    put("a.png", None)
    (folder / "z.png").write_bytes(b"no image")
    assert [one.severity for one in check(read(), resolution=64, multiple=64).problems] == [
        "error",
        "warning",
        "warning",
    ]


@pytest.fixture
def warnings(put, read):
    def of(size, resolution=256, multiple=64):
        for number in range(5):
            put(f"{number}.png", size=size)
        return {
            one.message
            for one in check(read(), resolution=resolution, multiple=multiple).problems
            if one.path.stem == "0"
        }

    return of


def test_small_images_are_told_not_to_be_enlarged(warnings):
    assert warnings((200, 140)) == {
        "0.png is 200x140, smaller than its bucket of 320x192: it is trained at 192x128 and not enlarged, and need not "
        "be; a larger original shows more detail"
    }


def test_tiny_images_are_told_to_be_enlarged(warnings):
    assert warnings((50, 64)) == {"0.png is only 50x64: it is enlarged to 64x64; use a larger one, or remove it"}


def test_images_that_fill_their_bucket_are_fine(warnings):
    assert warnings((256, 256)) == warnings((512, 512)) == warnings((2560, 1536)) == set()


def test_crops_that_cut_much_are_told(warnings):
    assert (
        "0.png: 37% of it is cut away, since it is trained at 64x64; crop it yourself around what matters"
        in warnings((64, 101))
    )


def test_captions_that_are_too_long_are_told(put, read):
    for number in range(5):
        put(f"{number}.png", "a castle\n" + "very " * number + "long")
    report = check(read(), resolution=64, multiple=64, count_tokens=lambda text: (len(text.split()), 4))
    assert [one.message for one in report.problems] == [
        "the caption of 4.png has 5 tokens, but the model reads 4: shorten it"
    ]


def test_checking_needs_no_torch(folder, put):
    put("a.png")
    code = f"""if True:
        import sys
        from pathlib import Path
        from mezzotint.training.dataset import captions, pixels
        from mezzotint.training.dataset.checking import check
        from mezzotint.training.dataset.reading import read_dataset

        report = check(read_dataset(Path({str(folder)!r}), cancelled=lambda: False), resolution=64, multiple=64)
        assert report.images == 1
        assert "torch" not in sys.modules
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

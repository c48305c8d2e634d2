"""What is heard of a job, on a terminal and off it."""

from fake_engine import FakeEngine, result_of

from mezzotint.cli.reporter import summary
from mezzotint.protocol import GeneratedImage, GenerateRequest, MemoryReport, ModelUsed, ResolvedStage, Timings


def stage(steps):
    return ResolvedStage(
        model=ModelUsed(id="a", family="sdxl", variant="base", path="a", files=()),
        width=64,
        height=64,
        prompt="",
        negative_prompt="",
        sampler="euler",
        schedule="default",
        steps=20,
        guidance_scale=1,
        guidance_rescale=0,
        prediction_type="epsilon",
        zero_terminal_snr=False,
        clip_skip=0,
        log_snr_start=None,
        log_snr_end=None,
        timesteps=tuple(float(step) for step in range(steps)),
        sigmas=(),
    )


def image(index):
    return GeneratedImage(path="a.png", width=128, height=128, seed=7 + index, index=index, sha256="0")


def said(images, stages):
    timings = Timings(load=0, encode=0, denoise=(), decode=0, save=0, total=3.24)
    memory = MemoryReport(peak_ram_bytes=0, peak_vram_bytes=None)
    request = GenerateRequest(prompt="a")
    return summary(result_of(request, images, stages=stages, timings=timings, memory=memory))


def test_the_summary_of_one_image_and_of_several():
    assert said([image(0)], (stage(20),)) == "128x128, 20 steps, seed 7, 3.2 s"
    two = (stage(16), stage(4))
    assert said([image(0), image(1)], two) == "2 images, 128x128, 16 + 4 steps, seeds 7 to 8, 3.2 s"


def test_a_terminal_gets_a_progress_line_and_still_its_paths(command, stream):
    done = command("generate", "a barn", stdout=stream(tty=True), stderr=stream(tty=True))
    assert done.out == "0.png\n"
    assert "step 1 of 1" in done.err
    assert "starter/dit, 1 of 2 bytes" in done.err
    assert done.err.endswith("128x96, seed 7, 3.2 s\n")


def test_no_colours_where_none_are_wanted(command, stream, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in command("generate", "a barn", stderr=stream(tty=True)).err


def test_off_a_terminal_and_in_quiet_nothing_moves(command, stream):
    assert "\x1b" not in command("generate", "a barn").err
    assert command("generate", "a barn", "-q", stderr=stream(tty=True)).err == ""


def test_json_lines_on_a_terminal_are_not_torn_by_a_progress_line(command, stream):
    done = command("generate", "a barn", "--jsonl", stdout=stream(tty=True), stderr=stream(tty=True))
    assert "\x1b" not in done.err
    assert all(line.startswith("{") for line in done.out.splitlines())


def test_the_engine_is_let_go_when_the_job_fails(command):
    engine = FakeEngine()
    command("generate", "refused", engine=engine)
    assert engine.closed

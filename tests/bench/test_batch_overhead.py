"""The measure of what a batch costs measures all that it says."""


def test_a_few_tasks_each_way(script, tmp_path):
    words, images = script.jobs_of(tmp_path, 20)
    for job, devices, together in ((words, 0, 4), (words, 0, 1), (images, 1, 4)):
        figures = script.measure("a run", job, tmp_path, devices, together)
        assert figures.tasks == 20
        assert "20 tasks" in str(figures)

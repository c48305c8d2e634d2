"""Entries that wait go to another folder."""

from mezzotint.protocol import Output


def paths_of(store, entry):
    return [task.request.output.path for task in store.entry(entry).tasks]


def into(request_of, *paths):
    return [request_of(output=Output(path=path)) for path in paths]


def test_what_waits_goes_elsewhere_and_what_goes_to_another_folder_stays(store, request_of):
    both = store.add(into(request_of, "/full/[seed].png", "/full/sub/[date].png"))
    other = store.add(into(request_of, "/fuller/[seed].png", "/full/a.png"))
    assert store.redirect_output("/full/", "/free [[x]/") == 2
    assert paths_of(store, both) == ["/free [[x]/[seed].png", "/free [[x]/sub/[date].png"]
    assert paths_of(store, other) == ["/fuller/[seed].png", "/free [[x]/a.png"]


def test_what_is_done_or_runs_stays(store, request_of):
    (first, second) = (store.add(into(request_of, "/full/[seed].png")) for _ in range(2))
    task = store.claim("the test")
    store.cancel([second])
    assert store.redirect_output("/full/", "/free/") == 0
    store.requeue(task.id, because="the disk is full: free some space")
    assert store.redirect_output("/full/", "/free/") == 1
    assert paths_of(store, first) == ["/free/[seed].png"]
    assert paths_of(store, second) == ["/full/[seed].png"]
    assert store.claim("the test").request.output.path == "/free/[seed].png"


def test_the_rest_of_a_request_is_as_it_was(store, request_of):
    wanted = request_of(prompt="a barn; its output", output=Output(path="/full/a.png", overwrite=True))
    entry = store.add([wanted])
    before = store.entry(entry).tasks[0].request
    store.redirect_output("/full/", "/free/")
    after = store.entry(entry).tasks[0].request
    assert (after.prompt, after.seed, after.output.overwrite) == (before.prompt, before.seed, True)

"""Queue entries in every state on the Queue page, with arbitrary text."""

from mezzotint.protocol import Cascade, GeneratedImage, GenerateRequest, ModelRef, Sampling, Stage


def fill_queue(store, words):
    """Add entries: done, failed, set aside, cancelled, waiting; returns those displayed at first."""

    def request(prompt, count=1):
        stage = Stage(model=ModelRef(id="base"), width=512, height=512, sampling=Sampling(steps=20))
        return GenerateRequest(prompt=prompt, count=count, cascade=Cascade(stages=(stage,)))

    made = [store.add([request(f"done {words}", 2)])]
    task = store.claim("test")
    for index in range(2):
        path = f"/images/{index} {words}.png"
        store.saved(
            task.id, GeneratedImage(path=path, width=8, height=8, seed=index, index=index, sha256=f"{index}" * 64)
        )
    store.finish(task.id)
    made.append(store.add([request("failed"), request("failed")], front=True))
    store.fail(store.claim("test").id, "failed", words)
    store.fail(store.claim("test").id, "failed", words)
    made.append(store.add([request("set aside")], front=True))
    for _ in range(2):
        store.on_engine_death(store.claim("test").id, because=words)
    made.append(store.add([request("cancelled")]))
    store.cancel([made[-1]])
    made.append(store.add([request(words, 3)]))
    store.pause()
    return made[1:3] + made[4:]  # displayed initially: pending entries and problems

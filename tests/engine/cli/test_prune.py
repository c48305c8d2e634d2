"""`mezzotint prune`: what it takes and says; what it does is proven with the job."""


def test_what_cannot_be_pruned_is_said_in_a_line(command, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a red house by the sea\n")
    words = ("--prompts", str(prompts), "--blocks", "1", "-o", str(tmp_path / "small"))
    done = command("prune", "no-such", *words)
    assert done.code == 2 and "no-such" in done.err
    done = command("prune", "no-such", *words, "--rate", "2")
    assert done.code == 2 and "--rate is 2; it must be" in done.err
    done = command("prune", "no-such")
    assert done.code == 2 and "--prompts" in done.err
    assert not (tmp_path / "small").exists()

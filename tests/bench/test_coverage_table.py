"""The table of coverage adds up what lies in a package."""

import json

FILES = {
    "engine/mezzotint/jobs/store.py": (10, 9, 4, 3),
    "engine/mezzotint/jobs/deeper/order.py": (10, 10, 4, 4),
    "engine/mezzotint/codec.py": (5, 5, 0, 0),
    "app\\mezzotint_app\\widgets\\field.py": (1, 0, 2, 1),
    "kernels/kernel_build/table.py": (7, 0, 7, 0),
}


def report(script, files=FILES):
    return {"files": {path: {"summary": dict(zip(script._SUMMED, files[path], strict=True))} for path in files}}


def test_a_line_for_every_package_and_one_for_all(script, tmp_path, capsys):
    (tmp_path / "after.json").write_text(json.dumps(report(script)))
    assert script.main([str(tmp_path / "after.json")]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| `mezzotint` | 5 | 100.0 | 0 | - |",
        "| `mezzotint.jobs` | 20 | 95.0 | 8 | 87.5 |",
        "| `mezzotint_app.widgets` | 1 | 0.0 | 2 | 50.0 |",
        "| all | 26 | 92.3 | 10 | 80.0 |",
    ]


def test_an_older_report_stands_beside_it(script, tmp_path, capsys):
    older = {"engine/mezzotint/jobs/store.py": (10, 9, 4, 2)}
    for name, files in {"after": FILES, "before": older}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(report(script, files)))
    assert script.main([str(tmp_path / "after.json"), "--before", str(tmp_path / "before.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| `mezzotint.jobs` | 20 | 95.0 | 8 | 50.0 | 87.5 |" in lines
    assert "| `mezzotint_app.widgets` | 1 | 0.0 | 2 | - | 50.0 |" in lines

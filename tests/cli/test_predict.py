"""`sparkcast predict`, where a question is not complete."""

from pathlib import Path

from tests_support import Call

TABLE = "Workers;Input (GB);Run time\n" + "".join(
    f"{workers};{size};{10 + 2 * size / workers:.1f} min\n" for workers in (2, 4) for size in (60, 120, 240)
)


def test_without_settings_those_of_a_run_are_shown_to_change(call: Call, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(TABLE)
    answer = call("predict", "runs.csv")
    assert answer.code == 2
    assert "hint: change those of a run: --at 'Workers=4,Input (GB)=240'" in answer.err
    assert call("predict", "runs.csv", "--at", "Workers=4,Input (GB)=240", "--model", "ridge").code == 0

"""How much data there is, is no choice."""

from pathlib import Path

from sparkcast import api

TABLE = "executors,rows,time_s\n" + "".join(
    f"{executors},{rows},{20 + rows / 1000 / executors}\n" for executors in (1, 2, 4) for rows in (10000, 50000, 90000)
)


def test_an_amount_of_data_that_is_left_open_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(TABLE)
    data = api.load_data(tmp_path / "runs.csv")
    [note] = api.recommend(data, within_s=200).notes
    assert note == "rows is an amount of data: `fix={'rows': 90000}` asks about a given one"
    assert api.recommend(data, within_s=200, fix={"rows": 90000}).notes == ()

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.learned.saved import SavedModel, load, save
from sparkcast.study import Candidates, Dataset, Expression, Level, Observation, Price
from sparkcast.study.derive import hourly, hourly_columns, parse_price, time_cost
from sparkcast.study.file import parse_study
from sparkcast.study.names import usual_vocabulary
from sparkcast.workloads import resolve
from sparkcast.workloads.base import TIME, WORKLOADS, Configuration, Job, Response, Role, Setting

STUDY = """\
study: s
workload: rented
settings:
  executors: [1, 2]
  vm_type: [m4.large, c4.xlarge]
  cores: 2
price: {price}
"""
MACHINES = {"m4.large": 0.1, "c4.xlarge": 0.199}
WORDS = usual_vocabulary("executors nodes cores executor_cores memory vm_type machine_type".split(), ["time_s"])
CONFIGURATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "executors": st.integers(1, 20),
            "cores": st.sampled_from([1, 2, 4, 0.5]),
            "memory": st.sampled_from(["1g", "512m", 2**31]),
            "vm_type": st.sampled_from(list(MACHINES)),
        }
    ),
    min_size=1,
    max_size=8,
)
PRICES = [
    Price(core_hour=0.05, gib_hour=0.013),
    Price(gib_hour=0.01),
    Price(machine_hours=MACHINES),
    Price(hour=Expression("executors * (0.05 * cores + 0.02)")),
    Price(hour=Expression("memory / 2**30 * 0.01 + (3 if vm_type == 'm4.large' else 1)")),
    Price(hour=Expression("0.5")),
    Price(core_hour=0.05, currency="EUR"),
]


class Rented:
    """A job on machines of a type."""

    settings: tuple[Setting, ...] = (Setting("vm_type", role=Role.MACHINE_TYPE), Setting("network"))
    responses: tuple[Response, ...] = (TIME,)
    example: Mapping[str, object] = {}

    def check(self, settings: Configuration) -> None: ...

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return ""

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None: ...


@pytest.fixture
def rented(monkeypatch: pytest.MonkeyPatch) -> None:
    WORKLOADS.names()
    monkeypatch.setitem(WORKLOADS._classes, "rented", Rented)


@settings(max_examples=60)
@given(CONFIGURATIONS, st.sampled_from(PRICES), st.sets(st.sampled_from(["executors", "cores", "memory", "vm_type"])))
def test_the_price_of_many_is_the_price_of_each(
    configurations: list[dict[str, Level]], price: Price, shared: set[str]
) -> None:
    fixed = {name: configurations[0][name] for name in sorted(shared)}
    varied = [name for name in configurations[0] if name not in shared]
    candidates = Candidates.of(configurations, varied)
    expected = [hourly({**configuration, **fixed}, price, WORDS) for configuration in configurations]
    assert hourly_columns(candidates, fixed, price, WORDS).tolist() == expected


@pytest.mark.parametrize(
    ("configuration", "price", "money"),
    [
        ({"executors": 2, "cores": 4, "memory": "8g"}, Price(0.1, 0.01), 2 * (0.4 + 0.08)),
        ({"nodes": 3, "executor_cores": 4}, Price(0.1), 1.2),
        ({"cores": 4}, Price(0.1), 0.4),
        ({}, Price(0.1), 0.1),
        ({"nodes": 3, "vm_type": "c4.xlarge"}, Price(machine_hours=MACHINES), 0.597),
        ({"machine_type": "m4.large"}, Price(machine_hours=MACHINES), 0.1),
        ({"executors": 3, "cores": 2}, Price(hour=Expression("executors * (0.05 * cores + 0.02)")), 0.36),
    ],
)
def test_an_hour_costs_what_the_run_holds(configuration: dict[str, Level], price: Price, money: float) -> None:
    assert hourly(configuration, price, WORDS) == pytest.approx(money)
    assert time_cost(1800, configuration, price, WORDS) == pytest.approx(money / 2)


@pytest.mark.parametrize(
    ("configuration", "price", "words"),
    [
        ({"vm_type": "m4.larg"}, Price(machine_hours=MACHINES), "'m4.larg'.*did you mean 'm4.large'"),
        ({"vm_type": "t2"}, Price(machine_hours=MACHINES), "'t2'.*known: m4.large, c4.xlarge"),
        ({"executors": 2}, Price(machine_hours=MACHINES), "needs a setting.*`roles={NAME: 'machine-type'}`"),
        ({"executors": "many"}, Price(0.1), "executors = 'many' is not a number"),
        ({"executors": 2}, Price(hour=Expression("executors - 3")), "gives -1.0 at executors=2"),
        ({"executors": 2}, Price(hour=Expression("executors > 1")), "gives True"),
        ({"executors": 2}, Price(hour=Expression("1e308 * 10 * executors")), "not a finite number in 1e308"),
        ({"executors": 2}, Price(hour=Expression("'a' * 3")), "invalid use of a string in 'a'"),
        ({"executors": 2}, Price(hour=Expression("max('a', 'b')")), "gives 'b'"),
        ({"executors": 2}, Price(hour=Expression("executor")), "did you mean 'executors'"),
    ],
)
def test_what_has_no_price_is_named(configuration: dict[str, Level], price: Price, words: str) -> None:
    with pytest.raises(StudyError, match=f"(?s){words}"):
        hourly(configuration, price, WORDS)
    with pytest.raises(StudyError, match=f"(?s){words}"):
        hourly_columns(Candidates.of([configuration], list(configuration)), {}, price, WORDS)


def test_levels_that_no_candidate_has_need_no_price() -> None:
    candidates = Candidates({"vm_type": ("m4.large", "t2")}, np.array([[0], [0]]))
    assert hourly_columns(candidates, {}, Price(machine_hours=MACHINES), WORDS).tolist() == [0.1, 0.1]
    assert hourly_columns(candidates.take(slice(0)), {}, Price(machine_hours=MACHINES), WORDS).tolist() == []


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("core_hour=0.05,gib_hour=0.01", Price(0.05, 0.01)),
        ("memory_hour = 0.01", Price(gib_hour=0.01)),
        ("m4.large=0.1, c4.xlarge=0.199", Price(machine_hours=MACHINES)),
        ("hour = executors * 0.12", Price(hour=Expression("executors * 0.12"))),
        ("hour=1 if executors == 2 else max(2, 3)", Price(hour=Expression("1 if executors == 2 else max(2, 3)"))),
    ],
)
def test_a_price_is_read_from_a_line(text: str, price: Price) -> None:
    assert parse_price(text) == price


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.05", "'0.05' is not a price.*core_hour=0.05"),
        ("", "is not a price"),
        ("core_hour=cheap", "'core_hour=cheap' is not a price"),
        ("core_hour=-1", "core_hour = -1.0 is not a price"),
        ("core_hour=nan", "core_hour = nan is not a price"),
        ("core_hour=1,core_hour=2", "core_hour twice"),
        ("core_hour=1,m4.large=2", "as core_hour and as machine_hour"),
        ("hour =", "is not an expression"),
        ("hour = import os", "is not an expression"),
    ],
)
def test_a_line_that_is_no_price_is_refused(text: str, words: str) -> None:
    with pytest.raises(StudyError, match=f"(?s){words}"):
        parse_price(text)


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("{core_hour: 0.05, gib_hour: 0.01}", Price(0.05, 0.01)),
        ("{memory_hour: 1}", Price(gib_hour=1)),
        ("{machine_hour: {m4.large: 0.1, c4.xlarge: 0.199}}", Price(machine_hours=MACHINES)),
        ('{hour: "executors * (0.05 * cores + 0.02)"}', Price(hour=Expression("executors * (0.05 * cores + 0.02)"))),
        ("{hour: 3}", Price(hour=Expression("3"))),
        ("{}", Price()),
    ],
)
def test_a_study_file_gives_its_price(written: str, price: Price) -> None:
    assert parse_study(STUDY.replace("{price}", written)).price == price


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("0.05", ["price = 0.05: not a list of `key: value`", "price: {core_hour: 0.05}"]),
        ("cheap", ["price = 'cheap'", "price: {core_hour: 0.05}"]),
        (
            "{core_hour: 1, machine_hour: {m4.large: 1, c4.xlarge: 2}}",
            ["as core_hour and as machine_hour", "choose one"],
        ),
        ("{gib_hour: 1, hour: executors}", ["as gib_hour and as hour"]),
        ("{machine_hour: {m4.large: 1, c4.xlarge: 2}, hour: executors}", ["as machine_hour and as hour"]),
        ("{gib_hour: 1, memory_hour: 1}", ["two names for the same price"]),
        ("{machine_hour: {m4.large: 1}}", ["'c4.xlarge'", "m4.large"]),
        ("{machine_hour: {m4.large: -1, c4.xlarge: 2}}", ["machine_hour.m4.large = -1", "0 or more"]),
        ("{machine_hour: 3}", ["price.machine_hour = 3"]),
        ("{hour: 'executors *'}", ["is not an expression"]),
        ("{hour: [1]}", ["price.hour"]),
        ("{core_hours: 1}", ["unknown key 'price.core_hours'", "did you mean 'core_hour'"]),
        ("{memory_hour: -1}", ["price.memory_hour = -1"]),
    ],
)
def test_a_price_that_cannot_be_is_named_with_its_line(rented: None, written: str, words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        resolve(parse_study(STUDY.replace("{price}", written)))
    assert str(caught.value).startswith("study.yaml line 7: ")
    for word in words:
        assert word in str(caught.value)


def test_prices_of_machines_need_a_setting_with_their_type(rented: None) -> None:
    text = STUDY.replace("{price}", "{machine_hour: {m4.large: 1, c4.xlarge: 2}}").replace("vm_type", "network")
    with pytest.raises(StudyError, match="needs a setting for the machine type"):
        resolve(parse_study(text))


@pytest.mark.parametrize("price", PRICES)
def test_a_price_survives_as_plain_data(price: Price) -> None:
    plain: dict[str, Any] = price.as_plain()
    assert Price.from_plain(plain) == price
    assert ("hour" in plain, "machine_hours" in plain) == (price.hour is not None, bool(price.machine_hours))


def test_a_price_of_cores_and_memory_is_written_as_it_always_was() -> None:
    assert Price(0.05, 0.01).as_plain() == {"core_hour": 0.05, "gib_hour": 0.01}


@pytest.mark.parametrize("price", PRICES[1:4])
def test_a_saved_model_keeps_its_price(price: Price, tmp_path: Path) -> None:
    runs = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 8.0 / e}) for e in (1, 2, 4)))
    save(SavedModel(runs, "median", price=price, trained=("time_s",)), tmp_path / "m.sparkcast")
    assert load(tmp_path / "m.sparkcast").about.price == price


def test_a_price_is_told_in_a_line() -> None:
    assert str(Price(0.05)) == "0.05 USD per core-hour"
    assert str(Price(0.05, 0.01, currency="EUR")) == "0.05 EUR per core-hour, 0.01 EUR per GiB-hour"
    assert str(Price(machine_hours=MACHINES)) == "0.1 USD per hour of m4.large, 0.199 USD per hour of c4.xlarge"
    assert str(Price(hour=Expression("executors * 3"))) == "executors * 3 USD per hour"


def test_a_price_names_its_currency_or_is_in_dollars() -> None:
    euros = parse_study(STUDY.replace("{price}", "{currency: eur, core_hour: 0.05}"))
    assert euros.price == Price(0.05, currency="EUR")
    assert euros.vocabulary.response("cost").unit == "EUR"
    dollars = parse_study(STUDY.replace("{price}", "{core_hour: 0.05}"))
    assert dollars.vocabulary.response("cost").unit == "USD"
    assert parse_study(STUDY.replace("price: {price}\n", "")).vocabulary.response("cost").unit == ""


def test_a_cost_by_a_formula_of_the_study_is_in_no_currency() -> None:
    text = STUDY.replace("{price}", "{core_hour: 0.05}") + "responses: [time_s, {cost: time_s * 2}]\n"
    assert parse_study(text).vocabulary.response("cost").unit == ""


@pytest.mark.parametrize("written", ["EURO", "E1", "''", "€"])
def test_what_cannot_be_a_currency_is_refused_with_its_line(written: str) -> None:
    with pytest.raises(StudyError, match=r"(?s)line 7: price.currency = .* three letters: currency: EUR"):
        parse_study(STUDY.replace("{price}", f"{{currency: {written}, core_hour: 1}}"))


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("core_hour=0.05,currency=EUR", Price(0.05, currency="EUR")),
        ("currency=chf, m4.large=0.1", Price(machine_hours={"m4.large": 0.1}, currency="CHF")),
        ("currency=EUR,hour=max(1, executors)", Price(hour=Expression("max(1, executors)"), currency="EUR")),
        ("hour=max(1, executors), currency=EUR", Price(hour=Expression("max(1, executors)"), currency="EUR")),
    ],
)
def test_a_currency_stands_at_either_end_of_a_line(text: str, price: Price) -> None:
    assert parse_price(text) == price

"""How long a recommendation takes on a fitted model, in this process, on one core.

    python benchmarks/recommend_latency.py [--questions 1000]

The runs are made up (a study of six settings, 96 configurations, two replicates); the models, the candidates and
the questions are real. "asked again" is the service's case: the model and its 4,096 candidates are known, every
question brings another deadline, budget, confidence or fixed setting; "and all probabilities" computes that of
every candidate too, not only of those in the answer. "asked first" looks at 4,096 candidates for the first time,
and so also runs the models on all of them. The peer is what the papers do: the plain forest of 2,000 trees of
scikit-learn, asked for every candidate (in one call, and as Courier does it, one candidate after the other).
"""

import argparse
import itertools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from sparkcast.errors import InfeasibleError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.models import MODELS
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.study import Dataset, Expression, Level, Observation, Price
from sparkcast.study.space import Space

LEVELS: dict[str, tuple[Level, ...]] = {
    "executors": (1, 2, 3, 4, 6, 8, 12, 16),
    "cores": (1, 2, 3, 4),
    "memory": ("1g", "2g", "4g", "8g"),
    "batch_size": (32, 64, 96, 128, 192, 256, 384, 512),
    "partitions": (8, 32),
    "network": ("lenet5", "simplenet"),
}
MEASURED: dict[str, tuple[Level, ...]] = {
    "executors": (1, 4, 16),
    "cores": (1, 4),
    "memory": ("1g", "8g"),
    "batch_size": (32, 128, 512),
    "partitions": (8, 32),
    "network": ("lenet5", "simplenet"),
}
N_CONFIGURATIONS = 96
BAR_MS = 5.0
PRICE = Price(core_hour=0.05, gib_hour=0.01)


def measured(seed: int = 1) -> Dataset:
    """Runs of a study that behave like training on a cluster: made up."""
    noise = random.Random(seed)
    chosen = noise.sample([dict(zip(MEASURED, row, strict=True)) for row in _product(MEASURED)], N_CONFIGURATIONS)
    return Dataset(
        tuple(MEASURED),
        tuple(Observation(c, _responses(c, noise), replicate=r) for c in chosen for r in (1, 2)),
        "made up",
        ("time_s", "accuracy"),
    )


def _product(levels: dict[str, tuple[Level, ...]]) -> list[tuple[Level, ...]]:
    from itertools import product

    return list(product(*levels.values()))


def _responses(c: dict[str, Level], noise: random.Random) -> dict[str, float]:
    batch, executors, cores = float(c["batch_size"]), float(c["executors"]), float(c["cores"])
    size = 3.0 if c["network"] == "lenet5" else 1.0
    seconds = 8 + 400 * size / (executors * cores) * (1 + 30 / batch) + 0.6 * executors + 0.1 * float(c["partitions"])
    accuracy = 0.97 - 0.02 * np.log2(batch / 32) / 4 - (0.01 if size < 2 else 0)
    return {
        "time_s": seconds * float(np.exp(noise.gauss(0, 0.04))),
        "accuracy": float(accuracy + noise.gauss(0, 0.002)),
    }


def questions(n: int, seed: int = 2) -> list[Question]:
    draw = random.Random(seed)
    kinds: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"within_s": draw.uniform(40, 400)},
        lambda: {"within_s": draw.uniform(60, 400), "minimize": "cost"},
        lambda: {"budget": draw.uniform(0.02, 0.2), "minimize": "time_s"},
        lambda: {
            "within_s": draw.uniform(60, 400),
            "fix": {"network": draw.choice(LEVELS["network"])},
        },
        lambda: {
            "within_s": draw.uniform(60, 400),
            "min_accuracy": draw.uniform(0.92, 0.95),
            "minimize": "cost",
        },
    )
    return [Question(**kinds[i % len(kinds)](), confidence=draw.choice((0.5, 0.9, 0.95))) for i in range(n)]


@dataclass(frozen=True)
class Latency:
    p50_ms: float
    p99_ms: float
    infeasible: int


def latency(ask: Callable[[Question], Any], asked: list[Question]) -> Latency:
    took, infeasible = [], 0
    for question in asked:
        begun = time.perf_counter()
        try:
            ask(question)
        except InfeasibleError:
            infeasible += 1
        took.append(1000 * (time.perf_counter() - begun))
    return Latency(float(np.percentile(took, 50)), float(np.percentile(took, 99)), infeasible)


def show(name: str, found: Latency, peer_ms: float) -> None:
    met = "met" if found.p99_ms < BAR_MS else "missed"
    print(
        f"  {name:38} p50 {found.p50_ms:9.2f} ms   p99 {found.p99_ms:9.2f} ms   {peer_ms / found.p50_ms:8.0f} x faster "
        f"than the forest   bar {BAR_MS:g} ms: {met}   ({found.infeasible} infeasible)"
    )


def forest_ms(data: Dataset, space: Space) -> tuple[float, float]:
    """Time of a plain forest of 2,000 trees for all candidates: in one call, and one by one (from 10 of them)."""
    domain = MODELS.get("ridge")().fit(data, "time_s").domain  # type: ignore[attr-defined]
    runs = data.successful("time_s")
    x = domain.encode([run.configuration for run in runs])
    forest = RandomForestRegressor(2000, random_state=0, n_jobs=1).fit(x, [run.responses["time_s"] for run in runs])
    at = domain.encode(space.candidates().configurations())
    begun = time.perf_counter()
    forest.predict(at)
    together = 1000 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    for row in at[:10]:
        forest.predict(row[None])
    return together, 1000 * (time.perf_counter() - begun) / 10 * len(at)


def million() -> None:
    """A product of 4**12 = 16.8 million combinations, and one of 10**12, of which rules leave few."""
    names = [f"s{i}" for i in range(12)]
    rules = tuple(Expression(f"{a} <= {b}") for a, b in itertools.pairwise(names))
    print("\nSpaces")
    for title, space in (
        ("4**10 combinations, no rule", Space(dict.fromkeys(names[:10], (1, 2, 3, 4)))),
        ("4**12 combinations, 11 rules", Space(dict.fromkeys(names, (1, 2, 3, 4)), rules=rules)),
        ("10**12 combinations, 11 rules", Space({name: tuple(range(10)) for name in names}, rules=rules)),
    ):
        begun = time.perf_counter()
        found = space.candidates()
        print(f"  {title:32} {len(found):>9,} candidates in {time.perf_counter() - begun:.2f} s")


def million_answered(data: Dataset, model: str) -> None:
    levels = dict(LEVELS)
    levels |= {
        "executors": tuple(range(1, 17)),
        "batch_size": tuple(range(32, 513, 8)),
        "partitions": tuple(range(8, 33)),
    }
    space = Space(levels, rules=(Expression("batch_size % 8 == 0"),))
    recommender = Recommender(Knowledge(data, model), space, price=PRICE)
    recommender.fitted("time_s", False), recommender.fitted("accuracy", False)
    begun = time.perf_counter()
    first = recommender.ask(Question(within_s=120.0))
    asked_first = time.perf_counter() - begun
    begun = time.perf_counter()
    recommender.ask(Question(within_s=110.0))
    again = time.perf_counter() - begun
    print(f"  {first.n_candidates:,} candidates answered by {model}: first {asked_first:.2f} s, again {again:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--models", default="auto,gaussian-process,ridge")
    options = parser.parse_args()
    data, space = measured(), Space(LEVELS)
    asked = questions(options.questions)
    n = len(space.candidates())
    print(f"{n:,} candidates, {len(asked)} questions, one core; runs are made up")
    together_ms, each_ms = forest_ms(data, space)
    print(f"  plain forest of 2,000 trees: {together_ms:.0f} ms in one call, {each_ms / 1000:.0f} s one by one")
    for model in options.models.split(","):
        ready = Recommender(Knowledge(data, model), space, price=PRICE)
        ready.ask(Question())
        for response in ("time_s", "accuracy"):
            ready.fitted(response, False)
        show(f"{model}, asked again", latency(ready.ask, asked), together_ms)

        def with_all(question: Question, known: Recommender = ready) -> Any:
            return known.probabilities(question), known.ask(question)

        show(f"{model}, and all probabilities", latency(with_all, asked), together_ms)

        def first(question: Question, known: Recommender = ready) -> Any:
            known.forget_candidates()
            return known.ask(question)

        show(f"{model}, asked first", latency(first, asked[: max(20, len(asked) // 20)]), together_ms)
    million()
    million_answered(data, "ridge")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()

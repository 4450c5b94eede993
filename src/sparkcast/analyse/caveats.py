"""What a reader of an analysis should know before trusting it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations

from sparkcast.analyse.runs import left_out
from sparkcast.study import Dataset, Fingerprint, Observation


def caveats(
    data: Dataset, runs: Sequence[Observation], response: str, *, anova_type: int, transform: str, is_exact: bool
) -> tuple[str, ...]:
    """One sentence per reason for doubt."""
    found = [
        _failed(data, response),
        _unreplicated(data, runs),
        _unbalanced(data, runs, anova_type),
        _mixed_machines(data, runs),
        "the model fits exactly, so there is no noise to test against: no F and no p" if is_exact else "",
        f"means are turned back from the {transform} scale, so they are not arithmetic means"
        if transform != "none"
        else "",
    ]
    return tuple(sentence for sentence in found if sentence)


def _failed(data: Dataset, response: str) -> str:
    missing = left_out(data, response)
    return f"runs left out: {missing}; if failing goes with a setting, its effect is biased" if missing else ""


def _unreplicated(data: Dataset, runs: Sequence[Observation]) -> str:
    if max(Counter(map(data.key, runs)).values()) > 1:
        return ""
    return "no configuration was run twice: the residual mixes noise with effects the model leaves out"


def _unbalanced(data: Dataset, runs: Sequence[Observation], anova_type: int) -> str:
    if is_balanced([data.key(o) for o in runs]):
        return ""
    if anova_type == 1:
        return "the runs are unbalanced: with type 1 the shares depend on the order of the factors; use type 2"
    return "the runs are unbalanced: shares need not add up to 100 %, and level means also carry other settings"


def is_balanced(keys: Sequence[tuple[object, ...]]) -> bool:
    """Each configuration equally often, and the levels of any two factors in proportion: then effects separate.

    >>> is_balanced([(1, "a"), (1, "b"), (2, "a"), (2, "b")]), is_balanced([(1, "a"), (1, "b"), (2, "a")])
    (True, False)
    """
    if len(set(Counter(keys).values())) > 1:
        return False
    for i, j in combinations(range(len(keys[0])), 2):
        first, second = Counter(key[i] for key in keys), Counter(key[j] for key in keys)
        both = Counter((key[i], key[j]) for key in keys)
        if any(both[a, b] * len(keys) != first[a] * second[b] for a in first for b in second):
            return False
    return True


def _mixed_machines(data: Dataset, runs: Sequence[Observation]) -> str:
    known = [(o, o.fingerprint) for o in runs if o.fingerprint is not None]
    differing = [f.name for f in fields(Fingerprint) if len({getattr(print_, f.name) for _, print_ in known}) > 1]
    if not differing:
        return ""
    kinds = {print_: None for _, print_ in known}
    # A factor is confounded when each of its levels was seen with one fingerprint only.
    confounded = [
        name
        for name in data.factors
        if len({o.configuration[name] for o, _ in known})
        == len({(o.configuration[name], print_) for o, print_ in known})
    ]
    sentence = f"the runs come from {len(kinds)} environments that differ in {', '.join(differing)}"
    if not confounded:
        return sentence
    return f"{sentence}; this changes with {', '.join(confounded)}, so the two effects cannot be told apart"

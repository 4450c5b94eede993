"""Section IV.B: jobs in a queue, with the cost in the place of the service time."""

from pathlib import Path
from statistics import fmean

from sparkcast.queues.markovian import MMc
from sparkcast.replications import CorrectedFigure, Mistake, PaperPart, PartResult, Row, Section, compare, show
from sparkcast.study import Dataset
from sparkcast_papers.marinos2020 import PARTS, _printed
from sparkcast_papers.marinos2020._runs import DROPPED, authors_runs, table_runs

_REPLICATES = 10


@PARTS.register("queues")
class Queues(PaperPart):
    """M/M/1 and M/M/4 at a utilization of 0.8, and mistakes 6 and 7."""

    def run(self, data: Path | None) -> PartResult:
        runs = table_runs(without=DROPPED) if data is None else authors_runs(data)
        means = {nodes: _mean_cost(runs, nodes) for nodes in (1, 4)}
        sections = [_rates(means, is_rounded=data is None), _printed_queues(), _right_queues(means), _optimized()]
        if data is not None:
            sections.insert(2, _notebook(1 / (_REPLICATES * means[4])))
        return PartResult(tuple(sections), (_sum_for_mean(means), _wrong_queue(means)))


def _mean_cost(runs: Dataset, nodes: int) -> float:
    return fmean(o.responses["cost"] for o in runs.observations if o.configuration["nodes"] == nodes)


def m_m_c(mu: float, servers: int, rho: float = _printed.RHO) -> dict[str, float]:
    """The M/M/c queue whose servers are each busy `rho`, in the paper's words; p_Q is the probability to wait.

    >>> {name: round(value, 4) for name, value in m_m_c(1.0, 1).items()}
    {'lambda': 0.8, 'p_Q': 0.8, 'E[T]': 5.0, 'E[N]': 4.0}
    """
    found = MMc(servers * rho * mu, 1 / mu, servers).measures()
    assert found.probability_of_waiting is not None
    return {
        "lambda": found.arrival_rate,
        "p_Q": found.probability_of_waiting,
        "E[T]": found.mean_response_s,
        "E[N]": found.mean_jobs,
    }


def _rates(means: dict[int, float], *, is_rounded: bool) -> Section:
    rows = []
    for nodes, printed in ((1, _printed.MU_1), (4, _printed.MU_4)):
        ours = 1 / (_REPLICATES * means[nodes])
        item, quantity = f"{nodes} node{'s' * (nodes > 1)}", "mu, from sums of ten"
        rows.append(show(item, quantity, ours, printed) if is_rounded else compare(item, quantity, printed, ours))
        rows.append(show(item, "mu, from means", 1 / means[nodes]))
    notes = ("from the rounded costs of Table II; `data=DIR` gives the paper's digits",) if is_rounded else ()
    return Section("Service rate", "Section IV.B", tuple(rows), notes)


def _printed_queues() -> Section:
    one, four = m_m_c(float(_printed.MU_1), 1), m_m_c(float(_printed.MU_4), 4)
    rows = [compare("M/M/1", name, printed, one[name]) for name, printed in _printed.M_M_1.items()]
    rows += [compare("M/M/4", name, printed, four[name]) for name, printed in _printed.M_M_4.items()]
    notes = (
        "E[T] of M/M/1 is truncated rather than rounded (1.6207), and its line divides by 0.259 where 2.468 was meant",
        "M/M/4: the printed E[T] is lambda, and the printed lambda does not belong to this queue (mistake 7); "
        "its E[N] is "
        "off in the third decimal, from factors that were rounded before they were multiplied",
    )
    return Section("Queues with the paper's own mu", "Section IV.B", tuple(rows), notes)


def _notebook(mu: float) -> Section:
    four = m_m_c(mu, 4)
    rows = tuple(compare("M/M/4", name, printed, four[name]) for name, printed in _printed.M_M_4_NOTEBOOK.items())
    return Section("The same queue in the authors' notebook", "their notebook", rows, is_printed=False)


def _right_queues(means: dict[int, float]) -> Section:
    rows = [
        show(queue, name, value)
        for queue, nodes, servers in (("M/M/1", 1, 1), ("M/M/4", 4, 4))
        for name, value in m_m_c(1 / means[nodes], servers).items()
    ]
    note = "times are in units of cost, as the paper has them; p_Q and E[N] depend on the utilization alone"
    return Section(
        "The same queues with mu from means", "the paper has no such numbers", tuple(rows), (note,), is_printed=False
    )


def best_cost(accuracy: float = _printed.BEST_ACCURACY) -> float:
    """T / (100 A)^2 at the learning rate that the search found."""
    return _printed.BEST_TIME_S / (100 * accuracy) ** 2


def _optimized() -> Section:
    its_mu = 1 / float(_printed.BEST_COST)
    queue = m_m_c(its_mu, 1)
    rows: tuple[Row, ...] = (
        compare("lr 9.011", "cost", _printed.BEST_COST, best_cost()),
        compare("lr 9.011", "mu, 1 / 0.003", _printed.BEST_MU, its_mu),
        show("lr 9.011", "mu, 97.6² / 29.5", 1 / best_cost()),
        compare("M/M/1", "lambda, with its mu", _printed.BEST_LAMBDA, queue["lambda"]),
        compare("M/M/1", "E[T], with its mu", _printed.BEST_E_T, queue["E[T]"]),
    )
    notes = (
        f"mu comes from a cost that was rounded to one digit: it is {100 * (its_mu * best_cost() - 1):.1f} % too large",
        f"the line for E[T] divides by mu, which gives {4 / float(_printed.BEST_MU):.3f}; its result is that of lambda",
    )
    return Section("The queue at the optimum", "Section V", rows, notes)


def _sum_for_mean(means: dict[int, float]) -> Mistake:
    return Mistake(
        6,
        "mu was based on the average cost of all experiments.",
        "It was based on the sum of the ten replicates of a configuration: 1/mu is ten times too large. Nor is "
        "it a rate: the cost is time over squared accuracy, so jobs per unit of cost are not jobs per second.",
        (
            CorrectedFigure("mu, 1 node", float(_printed.MU_1), 1 / means[1]),
            CorrectedFigure("mu, 4 nodes", float(_printed.MU_4), 1 / means[4]),
            CorrectedFigure("mean cost, 1 node", None, means[1]),
            CorrectedFigure("mean cost, 4 nodes", None, means[4]),
        ),
    )


def _wrong_queue(means: dict[int, float]) -> Mistake:
    its_own, right = m_m_c(float(_printed.MU_4), 4), m_m_c(1 / means[4], 4)
    one = m_m_c(1 / means[1], 1)
    return Mistake(
        7,
        "M/M/4: lambda = 0.930 and E[T] = 11.005.",
        "0.8 · 3.439 · 4 is not 0.930: the printed E[T] is lambda. With the paper's mu the mean response is "
        f"{its_own['E[T]']:.3f}, and with mu from means {right['E[T]']:.4f}, in units of cost; M/M/1 gives "
        f"{one['E[T]']:.3f} and not 1.620. E[N] does not depend on mu and stays.",
        (
            CorrectedFigure("lambda of M/M/4, with the paper's mu", float(_printed.M_M_4["lambda"]), its_own["lambda"]),
            CorrectedFigure("E[T] of M/M/4, with the paper's mu", float(_printed.M_M_4["E[T]"]), its_own["E[T]"]),
            CorrectedFigure("E[N] of M/M/4", float(_printed.M_M_4["E[N]"]), its_own["E[N]"]),
            CorrectedFigure("E[T] of M/M/4, with mu from means", None, right["E[T]"]),
            CorrectedFigure("E[T] of M/M/1, with mu from means", float(_printed.M_M_1["E[T]"]), one["E[T]"]),
        ),
    )

"""Reading what is thrown away at once: filters that no scan knows of."""

import re
from collections.abc import Iterator

from sparkcast.eventlogs import PlanNode
from sparkcast.facts.operators import is_python, label, plain
from sparkcast.profile.findings.base import RUN, Evidence, Finding, ids, named, part_of
from sparkcast.profile.findings.plans import QueryPlan, plans, stages_with
from sparkcast.profile.findings.values import files_of, set_
from sparkcast.study.redaction import redact_text
from sparkcast.units import show_bytes, show_percent

_COLUMNAR = {"Parquet": "spark.sql.parquet.filterPushdown", "ORC": "spark.sql.orc.filterPushdown"}
_ROWS = "number of output rows"
_OF_A_COLUMN = re.compile(r"\b([a-z]\w*)\((\w+)(?: as \w+)?[^()]*\) (=|<=>|<|>|<=|>=) ([^()]+)\)")
_MOST_KEPT = 0.1  # of the rows; with more, most of the file is needed


def unpushed_filter(evidence: Evidence) -> Iterator[Finding]:
    for plan in plans(evidence):
        for place, node in enumerate(plan.nodes):
            scan = _scan_below(plan, place) if node.name == "Filter" else None
            if scan is None:
                continue
            read, kept = plan.nodes[scan].value(_ROWS), node.value(_ROWS)
            stages = stages_with(plan, scan, evidence)
            if not read or kept is None or kept > _MOST_KEPT * read or not stages:
                continue
            if any(is_python(other) for stage in stages for other in evidence.facts.plans[stage.key].nodes):
                continue  # that takes the time
            why, fix, values = _cause(plan.nodes[scan], node, evidence)
            if fix:
                yield Finding(
                    "unpushed-filter",
                    f"{label(plan.nodes[scan])} in {named(stages)} reads {read:,.0f} rows, of which the filter keeps "
                    f"{kept:,.0f} ({show_percent(kept / read)}): {why}.",
                    fix,
                    (1 - kept / read) * sum(part_of(stage, *RUN) for stage in stages),
                    evidence={"rows_read": read, "rows_kept": kept},
                    stage_ids=ids(stages),
                    operator=label(plan.nodes[scan]),
                    values=values,
                )


def _scan_below(plan: QueryPlan, place: int) -> int | None:
    """The scan that a filter follows directly."""
    for below in plan.below(place):
        node = plan.nodes[below]
        if node.is_scan:
            return below
        if below != place and (len(plan.children.get(below, [])) > 1 or not _passes_on(node)):
            return None
    return None


def _passes_on(node: PlanNode) -> bool:
    return node.name.startswith(("ColumnarToRow", "InputAdapter", "WholeStageCodegen", "Project"))


def _cause(scan: PlanNode, node: PlanNode, evidence: Evidence) -> tuple[str, str, dict[str, str]]:
    """Why the scan reads everything, what to change, and the values of that; nothing where it knows of the filter."""
    pushed = [one for one in _listed(scan, "PushedFilters") if not one.startswith("IsNotNull")]
    pruned, form = _listed(scan, "PartitionFilters"), scan.metadata.get("Format", "")
    setting = _COLUMNAR.get(form, "")
    if setting and evidence.setting(setting, "true") == "false":
        return (
            "Parquet and ORC files are not asked to skip what it drops",
            f"{set_(setting, 'true')}.",
            {setting: "true"},
        )
    if setting and not pushed and not pruned:
        text = redact_text(plain(node.text.removeprefix("Filter ")))
        match = _OF_A_COLUMN.search(text)
        if match is None:
            return "", "", {}
        instead = f"{match[2]} {match[3]} {match[4].strip()}"
        files, parts = scan.value("number of files read") or 0.0, scan.value("number of partitions read") or 0.0
        whole = f", in {files:,.0f} files" + (f" and {parts:,.0f} partitions" if parts > 1 else "")
        return (
            f"{match[1]}({match[2]}) is computed for each row{whole if files else ''}, so nothing can be skipped",
            f"compare the column itself, `{instead}` with a value of its own type, so that row groups and partitions "
            "without it are skipped. That works best in files that are sorted by it.",
            {"filter": instead},
        )
    size = scan.value("size of files read") or 0.0
    if form in ("CSV", "JSON", "Text") and size:
        n_files = files_of(size / 3)  # columnar files with compression are about a third
        return (
            f"{form} files have to be read and parsed whole ({show_bytes(size)})",
            f"store them as Parquet, in {n_files} files sorted by the column of the filter.",
            {"files": str(n_files)},
        )
    return "", "", {}


def _listed(scan: PlanNode, name: str) -> list[str]:
    text = scan.metadata.get(name, "").strip("[]")
    return [one.strip() for one in text.split(", ") if one.strip()]

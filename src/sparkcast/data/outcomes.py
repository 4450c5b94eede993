"""How a run ended, in the words of those who kept the table: words, flags, exit codes, messages, in several languages.

A run that somebody or something stopped is a failure of its configuration, whatever the reason: it never counts as if
it had not been made.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise

from sparkcast.data.cell import is_date, is_true
from sparkcast.data.grid import Grid
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Outcome
from sparkcast.study.headings import fold, plain_name

OWN = "outcome"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended; `outcome` is None where it has not ended, or never started."""

    outcome: Outcome | None
    cause: str = ""


GOOD, OPEN = RunEnd(Outcome.OK), RunEnd(None)

_OK = """
    ok okay success successful succeeded finished completed complete done passed pass ✓ ✔ ✅ erfolgreich erfolg fertig
    abgeschlossen reussi reussie succes termine terminee acheve exito exitoso completado completada terminado
    finalizado correcto geslaagd gelukt voltooid lyckades lyckad vellykket fullført fuldført sukces zakonczono
    riuscito successo completato terminato sucesso concluido concluida 成功 完了 完成 已完成 успешно успех завершено
    завершен выполнено готово успішно успіх hotovo úspěch úspěšně úspešne dokončeno başarılı tamamlandı bitti valmis
    onnistui sikeres kész reușit επιτυχία επιτυχημένο berhasil sukses selesai 성공 완료 نجح نجاح הצליח
"""
_ERROR = """
    error errors errored failed failures failure fail exception crashed crash aborted abort killed canceled cancelled
    cancel preempted preemption interrupted evicted lost revoked died dead unsuccessful incomplete dnf nodefail
    internalerror ✗ ✘ ❌ fehlgeschlagen fehler abgebrochen abbruch gescheitert abgesturzt echec echoue echouee erreur
    annule annulee tue tuee interrompu interrompue abandonne fallido fallida fallo cancelado cancelada abortado
    abortada matado interrumpido fallito fallita errore annullato interrotto falhou falha erro interrompido mislukt
    geannuleerd afgebroken misslyckad misslyckades avbruten mislykkedes mislyktes avbrutt afbrudt niepowodzenie bład
    przerwano anulowano 失敗 失败 中止 エラー 错误 取消 キャンセル 已取消 ошибка сбой неудача неуспешно провал
    отменено отменен прервано прерван убит помилка скасовано selhalo selhání chyba zlyhalo zrušeno başarısız hata
    iptal epäonnistui virhe peruttu keskeytetty sikertelen hiba eșuat eroare αποτυχία ko فشل נכשל σφάλμα gagal
    dibatalkan 실패 오류 취소 중단
"""
_OOM = "oom oomkilled outofmemory speichermangel"
_TIMEOUT = "timeout timedout zeituberschreitung scaduto таймаут zamanaşımı aikakatkaisu 시간초과 超时 タイムアウト"
_OPEN = """
    running pending queued submitted accepted scheduled starting waiting undefined provisioning skipped deferred
    planned new upforretry upstreamfailed lauft laufend wartend 実行中 运行中 выполняется 실행중
"""
_WORDS: dict[str, RunEnd] = {
    **dict.fromkeys(fold(_OK).split(), GOOD),
    **{word: RunEnd(Outcome.ERROR) for word in fold(_ERROR).split()},
    **{word: RunEnd(Outcome.OOM) for word in _OOM.split()},
    **{word: RunEnd(Outcome.TIMEOUT) for word in fold(_TIMEOUT).split()},
    **dict.fromkeys(fold(_OPEN).split(), OPEN),
}
_PHRASES = {  # as one word
    **dict.fromkeys(("out of memory", "java heap space", "heap space"), "oom"),
    **dict.fromkeys(("timed out", "time out", "delai depasse", "tiempo agotado", "time limit"), "timeout"),
    **dict.fromkeys(("in progress", "en cours", "en curso", "in corso", "em andamento", "not started"), "running"),
    **{"node fail": "nodefail", "up for retry": "upforretry", "upstream failed": "upstreamfailed"},
}
_ENDED_SOMEHOW = ("terminated", "stopped", "ended", "exited", "closed", "beendet")  # well or not: the others tell
_NOT = frozenset("not no non nicht kein keine ohne sans sin sem senza without never 0".split())
_NAMES = frozenset("status result outcome conclusion verdict state".split())
_GOOD_FLAGS = ("completed", "success", "succeeded", "successful", "ok", "passed", "finished", "done")
_BAD_FLAGS = (
    *("failed", "failure", "error", "crashed", "killed", "aborted", "canceled", "cancelled", "preempted", "oom"),
    *("timeout", "timed_out"),
)
_EXIT = re.compile(r"(.*_)?(exit(_?(code|status|value))?|return_?code|rc|exitval)")
_MESSAGE = re.compile(r"(error|exception|failure)(_(message|msg|text|reason|cause|class|type))?|traceback|diagnostics")
_CODES = {0: GOOD, 52: RunEnd(Outcome.OOM, "exit code 52"), 124: RunEnd(Outcome.TIMEOUT, "exit code 124")}
_WORST_FIRST = (Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR, Outcome.LOST, None, Outcome.OK)
_MOST_WORDS = 12  # different ones in a column that only its cells tell to be one of ends


@dataclass(frozen=True, slots=True)
class Endings:
    """How each row ended, the columns that say so, and their words that nobody explained."""

    columns: tuple[str, ...] = ()
    ends: Sequence[RunEnd] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_endings(grid: Grid, taken: Sequence[str], declared: Mapping[str, str]) -> Endings:
    """What the columns of a table say about the ends of its runs; `declared` explains words: {"parked": "error"}."""
    given = {_plain(word): _declared(word, meaning) for word, meaning in declared.items()}
    found = {name: reader for name in grid.header if name not in taken and (reader := _reader(grid, name, given))}
    if OWN in found and all(cell in _own() for cell in set(grid.cells(OWN)) if cell):
        found = {OWN: found[OWN]}
    ends: list[RunEnd] = [GOOD] * len(grid.rows)
    unknown: dict[str, tuple[str, ...]] = {}
    for name, read in found.items():
        cells = grid.cells(name)
        said = {cell: read(cell) for cell in set(cells) if cell}
        if name != OWN:
            said = _settled(said, is_alone=len(found) == 1, given=given)
        unknown |= {name: names} if (names := tuple(c for c, end in sorted(said.items()) if end is None)) else {}
        ends = [worse(end, said.get(cell)) for end, cell in zip(ends, cells, strict=True)]
    if not found:  # a message is written where a run failed, and not elsewhere
        found, ends = _by_messages(grid, taken, ends)
    return Endings(tuple(found), ends, unknown)


def worse(one: RunEnd, other: RunEnd | None) -> RunEnd:
    if other is None:
        return one
    return min(one, other, key=lambda end: _WORST_FIRST.index(end.outcome))


def read_word(text: str) -> RunEnd | None:
    """How a run ended, by one word or a few: `FAILED`, `killed by user`, `failed (OOM)`; None for what says nothing."""
    plain = _plain(text)
    if whole := _WORDS.get(plain.replace(" ", "")):
        return whole if whole in (GOOD, OPEN) else RunEnd(whole.outcome, text)
    words = re.findall(r"\w+", _joined(plain))
    known = [_said(word, before) for before, word in pairwise(("", *words)) if word in _WORDS]
    if not known:
        return None
    worst = min(known, key=lambda end: _WORST_FIRST.index(end.outcome))
    return worst if worst in (GOOD, OPEN) else RunEnd(worst.outcome, text)


def _said(word: str, before: str) -> RunEnd:
    """What a word says behind another: `no error` is good, `not ok` is not."""
    end = _WORDS[word]
    if before not in _NOT or end is OPEN:
        return end
    return RunEnd(Outcome.ERROR) if end is GOOD else GOOD


def _joined(plain: str) -> str:
    for phrase, word in _PHRASES.items():
        plain = plain.replace(phrase, word)
    return plain


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[_\-./:;,()\[\]]+", " ", fold(text)).split()) or fold(text)


def _declared(word: str, meaning: str) -> RunEnd:
    known = {"ok": GOOD, "running": OPEN, **{o.value: RunEnd(o, word) for o in Outcome if o is not Outcome.OK}}
    if meaning not in known:
        raise StudyError(f"{word!r} cannot mean {meaning!r}", hint=did_you_mean(meaning, tuple(known)))
    return known[meaning]


def _own() -> dict[str, RunEnd]:
    """Of a table that sparkcast wrote: a lost run stays one, which says nothing of its settings."""
    return {outcome.value: RunEnd(outcome) for outcome in Outcome}


_Read = Callable[[str], RunEnd | None]


def _reader(grid: Grid, name: str, given: Mapping[str, RunEnd]) -> _Read | None:
    """How to read a column that says how runs ended; None for any other column."""
    cells = {cell for cell in grid.cells(name) if cell}
    plain = plain_name(name)

    def word(cell: str) -> RunEnd | None:
        return given.get(_plain(cell)) or (_own().get(cell) if name == OWN else None) or read_word(cell)

    if name == OWN:
        return word
    if not cells:
        return None
    if _EXIT.fullmatch(plain) and all(_code(cell) is not None for cell in cells):
        return _code
    if plain in (*_GOOD_FLAGS, *_BAD_FLAGS) and all(_flagged(cell)[0] is not None for cell in cells):
        return _flag(plain)
    return word if _is_named_for_ends(plain, cells, word) or _has_only_ends(cells, given) else None


def _is_named_for_ends(plain: str, cells: Set[str], word: _Read) -> bool:
    named = _NAMES.intersection(plain.split("_"))
    if all(map(is_date, cells)):  # when it was reached
        return False
    if "status" in named and len(cells) > 1:
        return True
    are_words = not all(re.fullmatch(r"[\d.,:\s%-]+", cell) for cell in cells)
    return bool(named) and are_words and any(word(cell) or _is_open(cell) for cell in cells)


def _has_only_ends(cells: Set[str], given: Mapping[str, RunEnd]) -> bool:
    """Whether the cells alone tell, whatever the column is called: good ends and others, and nothing else."""
    whole = {given.get(_plain(cell)) or _WORDS.get(_plain(cell).replace(" ", "")) for cell in cells}
    return None not in whole and GOOD in whole and len(whole) > 1 and len(cells) <= _MOST_WORDS


def _is_open(cell: str) -> bool:
    return _plain(cell) in _ENDED_SOMEHOW


def _settled(
    said: Mapping[str, RunEnd | None], *, is_alone: bool, given: Mapping[str, RunEnd]
) -> dict[str, RunEnd | None]:
    """What `terminated` means: the end of a good run beside `terminated with errors`, of a bad one beside `done`."""
    found = dict(said)
    for cell in said:
        if not _is_open(cell) or _plain(cell) in given:
            continue
        others = [end for other, end in said.items() if not _is_open(other)]
        has_worse = any(_plain(other).startswith(f"{_plain(cell)} ") for other in said)
        if has_worse or not is_alone:
            found[cell] = GOOD
        elif GOOD in others:
            found[cell] = RunEnd(Outcome.ERROR, cell)
    return found


def _flag(plain: str) -> _Read:
    bad = {"oom": Outcome.OOM, "timeout": Outcome.TIMEOUT, "timed_out": Outcome.TIMEOUT}.get(plain, Outcome.ERROR)
    is_good = plain in _GOOD_FLAGS

    def read(cell: str) -> RunEnd:
        flag, remark = _flagged(cell)
        if flag is is_good:
            return GOOD
        said = read_word(remark) if remark else None
        return said if said and said.outcome else RunEnd(bad, f"not {plain}" if is_good else plain)

    return read


def _flagged(cell: str) -> tuple[bool | None, str]:
    """Yes or no, and what is said of it: `no (OOM)`."""
    flag = is_true(cell)
    if flag is not None:
        return flag, ""
    word, _, remark = cell.partition(" ")
    return is_true(word.rstrip(",;:")), remark


def _code(cell: str) -> RunEnd | None:
    """Of an exit code, also as Slurm writes it with a signal: `0:9`."""
    if not re.fullmatch(r"-?\d+(\.0)?(:\d+)?", cell):
        return None
    code, _, signal = cell.partition(":")
    number = int(float(code)) or (128 + int(signal) if signal.strip("0") else 0)
    return _CODES.get(number) or RunEnd(Outcome.ERROR, f"exit code {cell}")


def _by_messages(grid: Grid, taken: Sequence[str], ends: list[RunEnd]) -> tuple[dict[str, _Read], list[RunEnd]]:
    for name in grid.header:
        cells = grid.cells(name)
        filled = {cell for cell in cells if cell}
        is_text = filled and not any(re.fullmatch(r"[-+\d.,eE%\s]+", cell) for cell in filled)
        if name not in taken and _MESSAGE.fullmatch(plain_name(name)) and is_text and "" in cells:
            said = {cell: _failure(cell) for cell in filled}
            return {name: said.get}, [worse(end, said.get(cell)) for end, cell in zip(ends, cells, strict=True)]
    return {}, ends


def _failure(message: str) -> RunEnd:
    """What a message tells of a failure; every one tells of some."""
    end = read_word(message)
    return RunEnd(Outcome.ERROR, message) if end is None or end in (GOOD, OPEN) else end

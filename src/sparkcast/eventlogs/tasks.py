"""The hot path: nine tenths of a log are the ends of tasks.

Typed decoding skips what no field asks for (accumulables are a third to two thirds of a line) at more than 1 GB/s.
Tried and slower: cutting that out of the bytes beforehand, and reading the digits of lines that are alike with numpy.
"""

import struct
from collections.abc import Callable
from io import BytesIO

from msgspec import Struct

from sparkcast.eventlogs.columns import ColumnTable, Growing, TextCodes, clamped
from sparkcast.eventlogs.events import Reason, TaskEnd
from sparkcast.eventlogs.lines import LineBlock
from sparkcast.eventlogs.parse import NOT_AS_EXPECTED, BadLineError, decoder, mended
from sparkcast.eventlogs.result import TASK_NUMBERS, TASK_TEXTS

_TASK_END = b'{"Event":"SparkListenerTaskEnd"'
# As many as TaskEnd, and they say nothing that TaskEnd does not.
_SKIPPED = (b'{"Event":"SparkListenerTaskStart"', b'{"Event":"SparkListenerTaskGettingResult"')
_ROWS_TO_TURN = 2000  # into columns: few enough for the processor's cache, many enough for numpy
_LONGEST_DETAIL = 300


class TaskRows:
    """Takes lines, keeps the ends of tasks as columns, and hands on all other lines."""

    def __init__(self, other: Callable[[bytes], None]) -> None:
        self._other = other
        self._rows = Growing(TASK_NUMBERS, TASK_TEXTS)
        self._add = _adder(self._rows)
        self._decode = decoder(TaskEnd)
        self.n_skipped = 0
        self.n_mended = 0
        self.n_bad = 0

    def take(self, block: LineBlock) -> None:
        decode, add, other = self._decode, self._add, self._other
        data, at, end = block
        n_skipped = 0
        lines = BytesIO(data)  # not split(): lines that are freed at once stay in the processor's cache
        lines.seek(at)
        for line in lines:
            at += len(line)
            if at > end:
                break
            if line.startswith(_TASK_END):
                try:
                    add(decode(line))
                except NOT_AS_EXPECTED:
                    self.take_odd(line)
            elif line.startswith(_SKIPPED):
                n_skipped += 1
            else:
                other(line)
        self.n_skipped += n_skipped
        if len(self._rows.packed) >= _ROWS_TO_TURN:
            self._rows.turn()

    def take_odd(self, line: bytes) -> None:
        """The end of a task that is not written as expected."""
        try:
            self._add(mended(TaskEnd, line))
            self.n_mended += 1
        except BadLineError:
            self.n_bad += 1

    def take_event(self, line: bytes) -> None:
        """The end of a task whose line begins in another way than Spark's do."""
        try:
            self._add(self._decode(line))
        except NOT_AS_EXPECTED:
            self.take_odd(line)

    @property
    def n_ends(self) -> int:
        return self._rows.n_rows

    @property
    def n_lines(self) -> int:
        return self.n_ends + self.n_bad + self.n_skipped

    def table(self) -> ColumnTable:
        return self._rows.table()


def _adder(rows: Growing) -> Callable[[TaskEnd], None]:
    """What appends one task to `rows`: a closure, because looking names up on `self` is a tenth of all reading."""
    append, pack, words = rows.packed.append, rows.pack, rows.words
    executors, hosts, localities, reasons, _ = (one.codes for one in words)
    no_detail = words[-1].code("")

    def add(event: TaskEnd) -> None:
        info, metrics, memory, reason = event.info, event.metrics, event.memory, event.reason
        read, write, took, gave = metrics.shuffle_read, metrics.shuffle_write, metrics.input, metrics.output
        why = reason.reason
        try:
            row = pack(  # in the order of TASK_NUMBERS and TASK_TEXTS
                event.stage_id,
                event.stage_attempt,
                info.task_id,
                info.index,
                info.attempt,
                info.launch,
                info.getting_result,
                info.finish,
                info.speculative,
                info.failed,
                info.killed,
                metrics.deserialize,
                metrics.deserialize_cpu,
                metrics.run,
                metrics.cpu,
                metrics.gc,
                metrics.result_serialization,
                metrics.result_size,
                metrics.peak_memory,
                metrics.memory_spilled,
                metrics.disk_spilled,
                read.fetch_wait,
                read.remote_bytes,
                read.remote_to_disk,
                read.local_bytes,
                read.remote_blocks,
                read.local_blocks,
                read.records,
                write.bytes,
                write.time,
                write.records,
                took.bytes,
                took.records,
                gave.bytes,
                gave.records,
                memory.heap,
                memory.off_heap,
                memory.jvm_rss,
                memory.python_rss,
                executors[info.executor],
                hosts[info.host],
                localities[info.locality],
                reasons[why],
                no_detail if why == "Success" else words[-1].code(_detail(reason)),
            )
        except KeyError:  # a word that did not come before
            texts = (info.executor, info.host, info.locality, why)
            info.executor, info.host, info.locality, reason.reason = map(TextCodes.kept, words, texts)
            add(event)
        except struct.error:  # no log of Spark has numbers of more than 64 bits, damaged ones do
            _clamp(event)
            add(event)
        else:
            append(row)

    return add


def _clamp(part: Struct) -> None:
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, Struct):
            _clamp(value)
        elif isinstance(value, int):
            setattr(part, name, clamped(value))


def _detail(reason: Reason) -> str:
    """Why a task failed, in one line. Texts that differ from task to task (stack traces) stay out."""
    if reason.reason == "Success":
        return ""
    told = reason.class_name or reason.kill_reason or reason.loss_reason or reason.message
    if reason.class_name and reason.description:
        told = f"{reason.class_name}: {reason.description}"
    lines = told.strip().splitlines() or [""]
    # Python's tracebacks say last what went wrong, Java's first.
    return (lines[-1] if "Traceback" in lines[0] else lines[0])[:_LONGEST_DETAIL]

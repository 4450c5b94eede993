"""What is measured of any Spark application, without its help: one vocabulary for runs made here and elsewhere."""

from enum import StrEnum

from sparkcast.study.response import Kind, Response

TIME, TOTAL_TIME, STARTUP_TIME = "time_s", "total_s", "startup_s"
WORK_TIME = "work_s"  # what a workload itself times: training without loading, say
CPU_TIME = "cpu_s"  # of all tasks: other work on the machine hardly changes it
BILLED_TIME = "billed_s"  # what a price per second is paid for: as long as executors were held
CORE_HOURS, GIB_HOURS = "core_hours", "gib_hours"  # that executors were held for
# Read from outside, and written. These are no goals: less is not better.
MOVED = INPUT_BYTES, INPUT_RECORDS, OUTPUT_BYTES = ("input_bytes", "input_records", "output_bytes")


class Part(StrEnum):
    """One kind of time. Every second of an application's life belongs to these; together they are all of it."""

    BEFORE_FIRST_JOB = "before the first job"
    DRIVER_ONLY = "driver only"  # no stage runs: planning, collecting, the program's own code, and the end
    NO_EXECUTORS = "waiting for executors"  # a stage is ready, and there is nobody to run it
    TO_LAUNCH = "waiting to launch"  # executors have free slots, stages have tasks to start, and none runs
    SCHEDULING = "scheduling"  # between launch and finish, but neither running nor (de)serializing
    SERIALIZATION = "deserialization"  # of tasks, and serialization of their results
    CPU = "CPU"
    GC = "garbage collection"
    FETCH_WAIT = "shuffle fetch wait"
    SHUFFLE_WRITE = "shuffle write"
    SPILL = "spill"  # estimated: Spark counts its bytes, not its time
    UNINSTRUMENTED = "I/O and other"  # run time that no metric explains: reading, writing, Python, waiting for the CPU
    SLOW_TASKS = "straggler wait"  # slots that a stage has used and cannot use any more, until it ends
    IDLE = "idle slots"
    LOST = "lost and repeated work"  # tasks that failed, were killed or were recomputed

    @property
    def response(self) -> str:
        """The name of the response that it is of a run; `cpu_s` and `gc_s` alone are sums over tasks.

        >>> Part.CPU.response
        'part_cpu_s'
        """
        return f"part_{self.name.lower()}_s"


# Before and after the application's own life, so that all parts of a run add up to the time from submission to exit.
LAUNCH, EXIT = "part_launch_s", "part_exit_s"
PART_RESPONSES = (LAUNCH, *(part.response for part in Part), EXIT)

_WHOLE, _JOBS, _OWN = "from submission to exit", "from the first to the last Spark job", "as the workload times itself"
OTHER_SPANS = {_WHOLE: _JOBS, _JOBS: _WHOLE, _OWN: _WHOLE}  # beside each, the other that people think of
# Of several times the first is meant, so this order decides what a deadline is about where nobody says it: people wait
# from submission to exit.
RUN_TIMES = (
    Response(TOTAL_TIME, kind=Kind.TIME, span=_WHOLE),
    Response(TIME, kind=Kind.TIME, span=_JOBS),
    Response(STARTUP_TIME, kind=Kind.TIME, span="from submission to the first Spark job"),
)
WORK = Response(WORK_TIME, kind=Kind.TIME, span=_OWN)
FROM_THE_LOG = (
    *RUN_TIMES,
    Response("task_s", kind=Kind.TIME),
    Response(CPU_TIME, kind=Kind.TIME),
    Response("gc_s", kind=Kind.TIME),
    Response("task_count", kind=Kind.COUNT, better="less"),
    Response("stage_count", kind=Kind.COUNT, better="less"),
    Response("shuffle_read_bytes", kind=Kind.COUNT, better="less", unit="bytes"),
    Response("shuffle_write_bytes", kind=Kind.COUNT, better="less", unit="bytes"),
    Response("spilled_bytes", kind=Kind.COUNT, better="less", unit="bytes"),
    Response(CORE_HOURS, kind=Kind.COUNT, better="less", unit="core-hours"),
    Response(GIB_HOURS, kind=Kind.COUNT, better="less", unit="GiB-hours"),
)

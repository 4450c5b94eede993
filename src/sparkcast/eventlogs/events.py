"""The events worth knowing, as Spark's JsonProtocol spells them (2.4 to 4.1). What else is in a line is skipped unread.

Every field has a default: any of them may be missing.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

# Nothing that Spark counts needs more than 64 bits. Of tasks it is checked where columns are packed.
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Reason(Struct, gc=False):
    reason: str = field(name="Reason", default="")
    class_name: str = field(name="Class Name", default="")
    description: str = field(name="Description", default="")
    kill_reason: str = field(name="Kill Reason", default="")
    loss_reason: str = field(name="Loss Reason", default="")
    message: str = field(name="Message", default="")


class TaskInfo(Struct, gc=False):
    task_id: int = field(name="Task ID", default=-1)
    index: int = field(name="Index", default=-1)
    attempt: int = field(name="Attempt", default=0)
    launch: int = field(name="Launch Time", default=0)
    executor: str = field(name="Executor ID", default="")
    host: str = field(name="Host", default="")
    locality: str = field(name="Locality", default="")
    speculative: bool = field(name="Speculative", default=False)
    getting_result: int = field(name="Getting Result Time", default=0)
    finish: int = field(name="Finish Time", default=0)
    failed: bool = field(name="Failed", default=False)
    killed: bool = field(name="Killed", default=False)


class ShuffleRead(Struct, gc=False):
    remote_blocks: int = field(name="Remote Blocks Fetched", default=0)
    local_blocks: int = field(name="Local Blocks Fetched", default=0)
    fetch_wait: int = field(name="Fetch Wait Time", default=0)
    remote_bytes: int = field(name="Remote Bytes Read", default=0)
    remote_to_disk: int = field(name="Remote Bytes Read To Disk", default=0)
    local_bytes: int = field(name="Local Bytes Read", default=0)
    records: int = field(name="Total Records Read", default=0)


class ShuffleWrite(Struct, gc=False):
    bytes: int = field(name="Shuffle Bytes Written", default=0)
    time: int = field(name="Shuffle Write Time", default=0)
    records: int = field(name="Shuffle Records Written", default=0)


class Input(Struct, gc=False):
    bytes: int = field(name="Bytes Read", default=0)
    records: int = field(name="Records Read", default=0)


class Output(Struct, gc=False):
    bytes: int = field(name="Bytes Written", default=0)
    records: int = field(name="Records Written", default=0)


class TaskMetrics(Struct, gc=False):
    deserialize: int = field(name="Executor Deserialize Time", default=0)
    deserialize_cpu: int = field(name="Executor Deserialize CPU Time", default=0)
    run: int = field(name="Executor Run Time", default=0)
    cpu: int = field(name="Executor CPU Time", default=0)
    peak_memory: int = field(name="Peak Execution Memory", default=0)
    result_size: int = field(name="Result Size", default=0)
    gc: int = field(name="JVM GC Time", default=0)
    result_serialization: int = field(name="Result Serialization Time", default=0)
    memory_spilled: int = field(name="Memory Bytes Spilled", default=0)
    disk_spilled: int = field(name="Disk Bytes Spilled", default=0)
    shuffle_read: ShuffleRead = field(name="Shuffle Read Metrics", default_factory=ShuffleRead)
    shuffle_write: ShuffleWrite = field(name="Shuffle Write Metrics", default_factory=ShuffleWrite)
    input: Input = field(name="Input Metrics", default_factory=Input)
    output: Output = field(name="Output Metrics", default_factory=Output)


class Memory(Struct, gc=False):
    heap: int = field(name="JVMHeapMemory", default=0)
    off_heap: int = field(name="JVMOffHeapMemory", default=0)
    jvm_rss: int = field(name="ProcessTreeJVMRSSMemory", default=0)
    python_rss: int = field(name="ProcessTreePythonRSSMemory", default=0)


class TaskEnd(Struct, gc=False):
    stage_id: int = field(name="Stage ID", default=-1)
    stage_attempt: int = field(name="Stage Attempt ID", default=0)
    reason: Reason = field(name="Task End Reason", default_factory=Reason)
    info: TaskInfo = field(name="Task Info", default_factory=TaskInfo)
    memory: Memory = field(name="Task Executor Metrics", default_factory=Memory)
    metrics: TaskMetrics = field(name="Task Metrics", default_factory=TaskMetrics)


class Head(Struct):
    event: str = field(name="Event")


class LogStart(Struct):
    spark_version: str = field(name="Spark Version", default="")


class ApplicationStart(Struct):
    name: str = field(name="App Name", default="")
    app_id: str = field(name="App ID", default="")
    attempt_id: str = field(name="App Attempt ID", default="")
    user: str = field(name="User", default="")
    time: Whole = field(name="Timestamp", default=0)


class ApplicationEnd(Struct):
    time: Whole = field(name="Timestamp", default=0)


class EnvironmentUpdate(Struct):
    spark: dict[str, str] = field(name="Spark Properties", default_factory=dict)
    jvm: dict[str, str] = field(name="JVM Information", default_factory=dict)
    system: dict[str, str] = field(name="System Properties", default_factory=dict)


class Amount(Struct):
    amount: float = field(name="Amount", default=0.0)


class ResourceProfileAdded(Struct):
    profile_id: Whole = field(name="Resource Profile Id", default=0)
    executor: dict[str, Amount] = field(name="Executor Resource Requests", default_factory=dict)
    task: dict[str, Amount] = field(name="Task Resource Requests", default_factory=dict)


class ExecutorInfo(Struct):
    host: str = field(name="Host", default="")
    cores: Whole = field(name="Total Cores", default=0)
    profile_id: Whole = field(name="Resource Profile Id", default=0)


class ExecutorAdded(Struct):
    time: Whole = field(name="Timestamp", default=0)
    executor: str = field(name="Executor ID", default="")
    info: ExecutorInfo = field(name="Executor Info", default_factory=ExecutorInfo)


class ExecutorRemoved(Struct):
    time: Whole = field(name="Timestamp", default=0)
    executor: str = field(name="Executor ID", default="")
    reason: str = field(name="Removed Reason", default="")


class BlockManagerId(Struct):
    executor: str = field(name="Executor ID", default="")


class BlockManagerAdded(Struct):
    manager: BlockManagerId = field(name="Block Manager ID", default_factory=BlockManagerId)
    max_memory: Whole = field(name="Maximum Memory", default=0)


class StageExecutorMetrics(Struct):
    executor: str = field(name="Executor ID", default="")
    memory: Memory = field(name="Executor Metrics", default_factory=Memory)


class StageName(Struct):
    stage_id: Whole = field(name="Stage ID", default=-1)
    name: str = field(name="Stage Name", default="")


class JobStart(Struct):
    job_id: Whole = field(name="Job ID", default=-1)
    time: Whole = field(name="Submission Time", default=0)
    stages: list[StageName] = field(name="Stage Infos", default_factory=list)
    stage_ids: list[Whole] = field(name="Stage IDs", default_factory=list)
    properties: dict[str, str] = field(name="Properties", default_factory=dict)


class JobException(Struct):
    message: str = field(name="Message", default="")


class JobResult(Struct):
    result: str = field(name="Result", default="")
    exception: JobException = field(name="Exception", default_factory=JobException)


class JobEnd(Struct):
    job_id: Whole = field(name="Job ID", default=-1)
    time: Whole = field(name="Completion Time", default=0)
    result: JobResult = field(name="Job Result", default_factory=JobResult)


class StorageLevel(Struct, gc=False):
    disk: bool = field(name="Use Disk", default=False)
    memory: bool = field(name="Use Memory", default=False)


class RddInfo(Struct):
    rdd_id: Whole = field(name="RDD ID", default=-1)
    name: str = field(name="Name", default="")
    scope: str = field(name="Scope", default="")
    callsite: str = field(name="Callsite", default="")
    parent_ids: list[Whole] = field(name="Parent IDs", default_factory=list)
    is_barrier: bool = field(name="Barrier", default=False)
    level: StorageLevel = field(name="Storage Level", default_factory=StorageLevel)
    partitions: Whole = field(name="Number of Partitions", default=0)
    cached_partitions: Whole = field(name="Number of Cached Partitions", default=0)
    memory_bytes: Whole = field(name="Memory Size", default=0)
    disk_bytes: Whole = field(name="Disk Size", default=0)


class Accumulable(Struct):
    accumulator_id: Whole = field(name="ID", default=-1)
    name: str = field(name="Name", default="")
    value: Any = field(name="Value", default=None)  # a number, a number in quotes, or a list of blocks


class StageInfo(Struct):
    stage_id: Whole = field(name="Stage ID", default=-1)
    attempt: Whole = field(name="Stage Attempt ID", default=0)
    name: str = field(name="Stage Name", default="")
    details: str = field(name="Details", default="")
    n_tasks: Whole = field(name="Number of Tasks", default=0)
    parent_ids: list[Whole] = field(name="Parent IDs", default_factory=list)
    submitted: Whole = field(name="Submission Time", default=0)
    completed: Whole = field(name="Completion Time", default=0)
    failure: str = field(name="Failure Reason", default="")
    profile_id: Whole = field(name="Resource Profile Id", default=0)
    rdds: list[RddInfo] = field(name="RDD Info", default_factory=list)
    accumulables: list[Accumulable] = field(name="Accumulables", default_factory=list)


class StageEvent(Struct):
    """StageSubmitted and StageCompleted."""

    stage: StageInfo = field(name="Stage Info", default_factory=StageInfo)


class PlanMetric(Struct):
    name: str = ""
    kind: str = field(name="metricType", default="")
    accumulator_id: Whole = field(name="accumulatorId", default=-1)


class PlanInfo(Struct):
    name: str = field(name="nodeName", default="")
    text: str = field(name="simpleString", default="")
    children: list["PlanInfo"] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)  # of scans of files: Location, Format, ...
    metrics: list[PlanMetric] = field(default_factory=list)


class SqlStart(Struct):
    execution_id: Whole = field(name="executionId", default=-1)
    root_id: Whole | None = field(name="rootExecutionId", default=None)
    description: str = ""
    details: str = ""
    time: Whole = 0
    plan: PlanInfo = field(name="sparkPlanInfo", default_factory=PlanInfo)
    modified_configs: dict[str, str] = field(name="modifiedConfigs", default_factory=dict)


class SqlPlanUpdate(Struct):
    execution_id: Whole = field(name="executionId", default=-1)
    plan: PlanInfo = field(name="sparkPlanInfo", default_factory=PlanInfo)


class SqlEnd(Struct):
    execution_id: Whole = field(name="executionId", default=-1)
    time: Whole = 0
    error: str | None = field(name="errorMessage", default=None)


class DriverAccumulatorUpdates(Struct):
    updates: list[tuple[Whole, Whole]] = field(name="accumUpdates", default_factory=list)

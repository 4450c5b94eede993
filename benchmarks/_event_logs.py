"""Event logs of any size, made up in the shape that Spark writes."""

import random
from collections.abc import Iterator
from pathlib import Path

_START_MS = 1_700_000_000_000
_TASKS_PER_STAGE = 2000
_ACCUMULABLES = (
    "executorDeserializeTime executorDeserializeCpuTime executorRunTime executorCpuTime resultSize jvmGCTime "
    "resultSerializationTime input.bytesRead input.recordsRead shuffle.write.bytesWritten shuffle.write.writeTime"
).split()
_MEMORY = (
    "JVMHeapMemory JVMOffHeapMemory OnHeapExecutionMemory OffHeapExecutionMemory OnHeapStorageMemory "
    "OffHeapStorageMemory OnHeapUnifiedMemory OffHeapUnifiedMemory DirectPoolMemory MappedPoolMemory "
    "ProcessTreeJVMVMemory ProcessTreeJVMRSSMemory ProcessTreePythonVMemory ProcessTreePythonRSSMemory "
    "ProcessTreeOtherVMemory ProcessTreeOtherRSSMemory MinorGCCount MinorGCTime MajorGCCount MajorGCTime TotalGCTime"
).split()


def write_log(path: Path, n_tasks: int, *, is_full: bool, seed: int = 7) -> None:
    """Full: as Spark 3.5 writes it, with TaskStart, accumulables and memory (3.8 kB a task). Else as 2.4 does."""
    with path.open("w", encoding="utf-8", buffering=1 << 20) as file:
        for line in lines(n_tasks, is_full=is_full, seed=seed):
            file.write(line)


def lines(n_tasks: int, *, is_full: bool, seed: int = 7) -> Iterator[str]:
    draw = random.Random(seed)
    n_stages = -(-n_tasks // _TASKS_PER_STAGE)
    yield from _opening("3.5.3" if is_full else "2.4.8")
    now = _START_MS + 5000
    for stage in range(n_stages):
        n_here = min(_TASKS_PER_STAGE, n_tasks - stage * _TASKS_PER_STAGE)
        info = (
            f'"Stage ID":{stage},"Stage Attempt ID":0,"Stage Name":"collect at job.py:{stage % 40}",'
            f'"Number of Tasks":{n_here},"RDD Info":[],"Parent IDs":[],"Details":"","Submission Time":{now}'
        )
        yield (
            f'{{"Event":"SparkListenerJobStart","Job ID":{stage},"Submission Time":{now},"Stage Infos":[{{{info},'
            f'"Accumulables":[]}}],"Stage IDs":[{stage}],"Properties":{{"spark.job.description":"part {stage}"}}}}\n'
        )
        yield f'{{"Event":"SparkListenerStageSubmitted","Stage Info":{{{info},"Accumulables":[]}},"Properties":{{}}}}\n'
        for place in range(n_here):
            yield from _task(stage, stage * _TASKS_PER_STAGE + place, place, now, draw, is_full)
        now += 60_000
        done = f'{{{info},"Completion Time":{now},"Accumulables":[]}}'
        yield f'{{"Event":"SparkListenerStageCompleted","Stage Info":{done}}}\n'
        yield (
            f'{{"Event":"SparkListenerJobEnd","Job ID":{stage},"Completion Time":{now},'
            f'"Job Result":{{"Result":"JobSucceeded"}}}}\n'
        )
    yield f'{{"Event":"SparkListenerApplicationEnd","Timestamp":{now + 100}}}\n'


def _opening(version: str) -> Iterator[str]:
    yield f'{{"Event":"SparkListenerLogStart","Spark Version":"{version}"}}\n'
    yield (
        '{"Event":"SparkListenerEnvironmentUpdate","JVM Information":{"Java Version":"17"},"Spark Properties":'
        '{"spark.executor.memory":"4g"},"System Properties":{"sun.java.command":"job.py --rows 10"}}\n'
    )
    yield (
        f'{{"Event":"SparkListenerApplicationStart","App Name":"made up","App ID":"app-1","Timestamp":{_START_MS},'
        f'"User":"me"}}\n'
    )
    for executor in range(50):
        yield (
            f'{{"Event":"SparkListenerExecutorAdded","Timestamp":{_START_MS + 2000 + executor},'
            f'"Executor ID":"{executor}",'
            f'"Executor Info":{{"Host":"worker-{executor % 10}.cluster.internal","Total Cores":4,"Log Urls":{{}}}}}}\n'
        )


def _task(stage: int, task: int, index: int, now: int, draw: random.Random, is_full: bool) -> Iterator[str]:
    run = int(draw.lognormvariate(7, 1))
    launch, cpu = now + draw.randrange(50_000), int(run * 1e6 * draw.random())
    executor = draw.randrange(50)
    info = (
        f'"Task ID":{task},"Index":{index},"Attempt":0,"Launch Time":{launch},"Executor ID":"{executor}",'
        f'"Host":"worker-{executor % 10}.cluster.internal","Locality":"PROCESS_LOCAL","Speculative":false'
    )
    if is_full:
        yield (
            f'{{"Event":"SparkListenerTaskStart","Stage ID":{stage},"Stage Attempt ID":0,"Task Info":{{{info},'
            f'"Getting Result Time":0,"Finish Time":0,"Failed":false,"Killed":false,"Accumulables":[]}}}}\n'
        )
    heap = draw.randrange(1 << 32)
    accumulables = ",".join(
        f'{{"ID":{stage * 30 + place},"Name":"internal.metrics.{name}","Update":{run},"Value":{run * 3},'
        f'"Internal":true,"Count Failed Values":true}}'
        for place, name in enumerate(_ACCUMULABLES if is_full else ())
    )
    memory = ",".join(f'"{name}":{heap if place < 2 else 0}' for place, name in enumerate(_MEMORY))
    push = (
        ',"Remote Requests Duration":0,"Push Based Shuffle":{"Corrupt Merged Block Chunks":0,'
        '"Merged Fetch Fallback Count":0,"Merged Remote Blocks Fetched":0,'
        '"Merged Local Blocks Fetched":0,"Merged Remote Chunks Fetched":0,'
        '"Merged Local Chunks Fetched":0,"Merged Remote Bytes Read":0,"Merged Local Bytes Read":0,'
        '"Merged Remote Requests Duration":0}'
    )
    yield (
        f'{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task Type":"ResultTask",'
        f'"Task End Reason":{{"Reason":"Success"}},"Task Info":{{{info},"Getting Result Time":0,'
        f'"Finish Time":{launch + run + 20},"Failed":false,"Killed":false,"Accumulables":[{accumulables}]}},'
        + (f'"Task Executor Metrics":{{{memory}}},' if is_full else "")
        + f'"Task Metrics":{{"Executor Deserialize Time":{run % 90},"Executor Deserialize CPU Time":{cpu % 9_000_000},'
        f'"Executor Run Time":{run},"Executor CPU Time":{cpu},"Peak Execution Memory":{heap % 1_000_003},'
        f'"Result Size":{1000 + run % 700},"JVM GC Time":{run // 20},"Result Serialization Time":{run % 3},'
        f'"Memory Bytes Spilled":0,"Disk Bytes Spilled":0,"Shuffle Read Metrics":{{"Remote Blocks Fetched":{run % 50},'
        f'"Local Blocks Fetched":{run % 7},"Fetch Wait Time":{run % 11},"Remote Bytes Read":{heap // 5},'
        f'"Remote Bytes Read To Disk":0,"Local Bytes Read":{heap // 50},"Total Records Read":{heap // 500}'
        + (push if is_full else "")
        + f'}},"Shuffle Write Metrics":{{"Shuffle Bytes Written":{heap // 7},"Shuffle Write Time":{cpu // 30},'
        f'"Shuffle Records Written":{heap // 700}}},"Input Metrics":{{"Bytes Read":{heap // 3},'
        f'"Records Read":{heap // 300}}},'
        f'"Output Metrics":{{"Bytes Written":0,"Records Written":0}},"Updated Blocks":[]}}}}\n'
    )

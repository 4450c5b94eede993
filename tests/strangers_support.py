"""Tables of runs as people of very different habits keep them, made here: none of them is anybody's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from sparkcast import api
from sparkcast.study import Kind, Outcome, Role


@dataclass(frozen=True)
class Expected:
    settings: Mapping[str, Role]
    time: str
    others: Mapping[str, Kind] = field(default_factory=dict)  # further responses
    failed: Mapping[Outcome, int] = field(default_factory=dict)
    unit: str = "s"  # of the time


def read(tmp_path: Path, table: Callable[[], str], **options: Any) -> api.Data:
    path = tmp_path / "runs.csv"
    path.write_text(table(), encoding="utf-8")
    return api.load_data(path, table=api.TableOptions(**options))


def lines(header: str, *rows: str) -> str:
    return "\n".join([header, *rows]) + "\n"


def german_spreadsheet() -> str:
    """Excel in German: semicolons, decimal commas, units in brackets."""
    rows = []
    for number, (nodes, size, rep) in enumerate(product((2, 4, 8), (10, 50, 100), (0, 1)), start=1):
        minutes = f"{2 + size * 1.3 / nodes * (1 + 0.05 * rep):.2f}".replace(".", ",")
        error = f"{0.031 + 0.001 * number:.4f}".replace(".", ",")
        rows.append(f"{number};{number:02d}.03.2024;{nodes};16;{size};{minutes};{error};")
    return lines(
        "Lauf-Nr.;Datum;Knoten;Speicher (GB);Datengröße [GB];Laufzeit [min];Fehlerrate;Bemerkung",
        *rows,
    )


def french_spreadsheet() -> str:
    rows = []
    for number, (executors, size, rep) in enumerate(product((2, 4, 8), (5, 20), (0, 1))):
        killed = executors == 2 and size == 20
        seconds = 3600 if killed else 60 + size * 40 / executors * (1 + 0.03 * rep)
        cells = f"{executors};8 Go;{size} Go;{seconds:.1f};{seconds * executors * 1e-4:.4f};{0.91 + 0.001 * number:.3f}"
        rows.append(f"{cells.replace('.', ',')};{'tué' if killed else 'réussi'}")
    return lines("Nb d'exécuteurs;Mémoire;Taille des données;Durée (s);Coût (€);Précision;Statut", *rows)


def spanish_spreadsheet() -> str:
    rows = []
    for nodes, size in product((2, 4, 8), (20, 40, 80)):
        cost = f"{nodes * size * 0.013:.2f}".replace(".", ",")
        state = "fallido" if (nodes, size) == (2, 80) else "completado"
        time = f"{int(size * 6 / nodes) + 1}m{nodes * size % 60:02d}s"
        rows.append(f"{nodes};{size};{time};{cost};{90 + nodes * size % 7} %;{state}")
    return lines("Nodos;Tamaño (GB);Duración;Costo (USD);Exactitud;Estado", *rows)


def portuguese_table() -> str:
    rows = [
        f"{machines},{kind},{n},{n / machines / 1000 * (2 if kind == 'n1' else 1):.1f},"
        f"{0.9 + (machines * 3 + n // 1000) % 5 / 100:.3f},{'não' if (machines, n) == (1, 900000) else 'sim'}"
        for machines, kind, n in product((1, 2, 4), ("n1", "n2"), (300000, 900000))
    ]
    return lines("máquinas,tipo de máquina,linhas,tempo (s),acurácia,concluído", *rows)


def italian_spreadsheet() -> str:
    rows = []
    for nodes, memory in product((2, 4, 8), (2, 4, 8)):
        minutes = 90 / nodes + 8 / memory
        cells = f"{nodes};{memory};{minutes:.2f};{nodes * minutes * 0.004:.4f}".replace(".", ",")
        rows.append(f"{cells};{'fallito (OOM)' if (nodes, memory) == (8, 2) else 'riuscito'}")
    return lines("nodi;memoria (GB);durata (min);costo (€);esito", *rows)


def airflow() -> str:
    """Task instances of Airflow; one still runs."""
    rows = []
    for day, (executors, rep) in enumerate(product((2, 4, 8), range(4)), start=1):
        seconds = 900 / executors * (1 + 0.02 * rep)
        state = "failed" if executors == 2 and rep > 1 else "running" if (executors, rep) == (8, 3) else "success"
        start = datetime(2024, 3, day, 0, 0, 5)
        end = "" if state == "running" else f"{start + timedelta(seconds=seconds)}+00:00"
        took = "" if state == "running" else f"{seconds:.2f}"
        rows.append(f"train,submit,scheduled__{start.date()},{state},{start}+00:00,{end},{took},1,pool,{executors}")
    return lines("dag_id,task_id,run_id,state,start_date,end_date,duration,try_number,pool,num_executors", *rows)


def databricks() -> str:
    """Job runs of Databricks: every run is TERMINATED, times are milliseconds that only start and end tell."""
    rows = []
    for number, (workers, kind, rep) in enumerate(product((2, 4, 8), ("i3.xlarge", "i3.2xlarge"), (0, 1))):
        took = int(1e6 / workers / (2 if "2x" in kind else 1) * (1 + 0.02 * rep)) + 30000
        stopped = workers == 2 and kind == "i3.xlarge"
        result = ("TIMEDOUT", "CANCELED")[rep] if stopped else "SUCCESS"
        start = 1709251200000 + number * 10_000_000
        rows.append(
            f"{9000 + number},{100 + number},TERMINATED,{result},{start},{start + took},30000,{took - 30000},{took},"
            f"{workers},{kind}"
        )
    return lines(
        "run_id,number_in_job,life_cycle_state,result_state,start_time,end_time,setup_duration,execution_duration,"
        "run_duration,num_workers,node_type_id",
        *rows,
    )


def mlflow_export() -> str:
    """What `mlflow.search_runs().to_csv()` writes: no time, but start and end."""
    rows = []
    for number, (executors, batch) in enumerate(product((1, 2, 4), (64, 128, 256)), start=1):
        start = datetime(2024, 3, 1) + timedelta(hours=number)
        end = start + timedelta(seconds=10 + 100 / executors * (64 / batch) ** 0.5)
        status = "KILLED" if (executors, batch) == (1, 64) else "FINISHED"
        rows.append(
            f"{number * 12345678901234567:032x},7,{status},dbfs:/x/{number},{start}+00:00,{end}+00:00,"
            f"{0.9 - batch / 5000 + number * 1e-4:.4f},{0.3 + batch / 1000:.4f},{executors},{batch},3,alice"
        )
    return lines(
        "run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.val_acc,metrics.loss,params.executors,"
        "params.batch_size,params.epochs,tags.mlflow.user",
        *rows,
    )


def history_server() -> str:
    """The list of applications of Spark's history server, pasted into a spreadsheet with a column of one's own."""
    rows = [
        f"3.4.1\tapplication_16{day:04d}\tkmeans\t2024-03-{day:02d} 10:00:00\t2024-03-{day:02d} 10:30:00\t"
        f"{40 / executors * (1 + 0.03 * rep) + 1:.1f} min\tbob\tDownload\t{executors}"
        for day, (executors, rep) in enumerate(product((2, 4, 8, 16), range(3)), start=1)
    ]
    return lines(
        "Version\tApp ID\tApp Name\tStarted\tCompleted\tDuration\tSpark User\tEvent Log\tspark.executor.instances",
        *rows,
    )


def yarn() -> str:
    """Applications of YARN: State says FINISHED of what failed, and elapsedTime is in milliseconds."""
    rows = []
    for number, (memory, cores, rep) in enumerate(product((4096, 8192, 16384), (2, 4, 8), (0, 1)), start=1):
        took = int((60 + 1800 / cores * (1 + 0.02 * rep)) * 1000)
        failed = (memory, cores) == (4096, 8)
        state, final = (("FINISHED", "FAILED"), ("KILLED", "KILLED"))[rep] if failed else ("FINISHED", "SUCCEEDED")
        start = 1709251200000 + number * 5_000_000
        rows.append(
            f"application_1709_{number:04d},train,alice,{state},{final},{memory},{cores},{start},{start + took},{took},"
            f"{memory * took // 1000},{cores * took // 1000},{0 if failed else 100}"
        )
    return lines(
        "Application-Id,Application-Name,User,State,Final-State,executorMemoryMB,executorCores,startedTime,finishedTime,"
        "elapsedTime,memorySeconds,vcoreSeconds,Progress",
        *rows,
    )


def emr_steps() -> str:
    rows = []
    for number, (nodes, size, rep) in enumerate(product((3, 6, 12), (50, 100), (0, 1)), start=1):
        minutes = int(size * 3 / nodes * (1 + 0.1 * rep)) + 2
        status = "Cancelled" if (nodes, size) == (3, 100) else "Completed"
        when = f'"March {number}, 2024, 09:00 (UTC+01:00)"'
        rows.append(f's-{number:04X}XYZ,Spark app,{status},{when},"{minutes} minutes",{nodes},{size} GB')
    return lines("ID,Name,Status,Start time,Elapsed time,Core nodes,Input", *rows)


def gpu_training() -> str:
    """A log of trainings: what was reached and used stands beside what was set."""
    rows = []
    for number, (gpus, batch, seed) in enumerate(product((1, 2, 4, 8), (32, 64, 128), (1, 2)), start=1):
        hours = (64 / batch) ** 0.3 * (1 + 0.01 * seed) / gpus
        rows.append(
            f"{gpus},{batch},0.0003,10,{seed},{hours:.4f},{0.35 + 0.01 * number / 24:.4f},"
            f"{0.41 + 0.01 * (number * 7 % 11):.4f},{91.2 + number * 5 % 13 / 10:.1f}%,{70.5 + number * 3 % 17:.1f},"
            f"{20000 + number * 37 % 1000},{500000 / hours / 3600:.1f}"
        )
    return lines(
        "n_accelerators,batch_size,lr,epochs,seed,train_hours,train_loss,val_loss,top1,gpu_util,mem_used_mb,images_per_sec",
        *rows,
    )


def wiki() -> str:
    """Copied from a page: bars, a ruler, merged cells."""
    times = ("05:31", "10:40", "03:12", "05:50", "03:31", "06:44", "02:02", "03:40")
    combinations = product(("small", "large"), (2, 4), (10, 20))
    rows = [
        f"| {cluster if (executors, size) == (2, 10) else ''} | {executors} | {size} | 00:{time} |"
        for (cluster, executors, size), time in zip(combinations, times, strict=True)
    ]
    return lines("| Cluster | Executors | Input (GB) | Runtime |", "|---|---|---|---|", *rows)


def two_jobs() -> str:
    rows = []
    for nodes in (2, 4, 8):
        rows += [f"kmeans,{nodes},{k},,{10 * k / nodes:.1f}" for k in (10, 20)]
        rows += [f"logreg,{nodes},,{reg},{300 / nodes + reg:.1f}" for reg in (0.1, 0.01)]
    return lines("job,nodes,k,reg_param,runtime_sec", *rows)


def wandb_export() -> str:
    rows = []
    for number in range(16):
        workers, batch = (1, 2, 4)[number % 3], (32, 64, 128)[number * 7 % 3]
        state = "crashed" if number == 5 else "killed" if number == 9 else "finished"
        seconds = 1000 / workers * (64 / batch) ** 0.3 * (1 + 0.01 * (number % 4))
        rows.append(
            f'"bright-sun-{number}","{state}","alice","2024-03-{number + 1:02d}T10:00:00.000Z","{int(seconds)}",'
            f'"{batch}","{10 ** -(2 + number % 5 / 3):.6f}","{workers}","{seconds:.3f}","{int(150000 / batch)}",'
            f'"{1709251200 + number * 5000}","{0.8 + number * 7 % 16 / 100:.4f}","{0.5 - number * 5 % 16 / 100:.4f}"'
        )
    return lines(
        '"Name","State","User","Created","Runtime","batch_size","learning_rate","num_workers","_runtime","_step",'
        '"_timestamp","val_accuracy","val_loss"',
        *rows,
    )


def benchmark() -> str:
    """Iterations that an algorithm took until it converged, with what it reached."""
    done = (17, 23, 19, 31, 22, 28, 35, 41, 18, 26)
    rows = []
    for number, (cores, k, _) in enumerate(product((4, 8, 16, 32), (10, 100), range(3)), start=1):
        iterations = done[number * 7 % 10] + k // 10
        rows.append(
            f"{cores},{k},{iterations},{0.8 + number * 13 % 17 / 100:.3f},{0.75 + number * 11 % 19 / 100:.3f},"
            f"{iterations * 60 / cores + number % 3 * 0.3:.2f}"
        )
    return lines("vCPUs,k,iterations,precision,recall,elapsed (s)", *rows)


def costs() -> str:
    """A sign of money in some cells, and a memory without a unit."""
    rows = []
    for number, (workers, memory) in enumerate(product((1, 2, 4, 8), (30, 61))):
        minutes = 60 / workers + memory / 61
        rows.append(f"{workers},{memory},{minutes:.1f},{'$' if number % 3 else ''}{workers * 0.1 * minutes / 60:.4f}")
    return lines("workers,ram,minutes,cost_usd", *rows)


def units_below_the_header() -> str:
    rows = [
        f"{n},{size},{2 * size / n + 0.5:.2f},{n * size * 0.07 + 0.01:.3f}" for n, size in product((1, 2, 4), repeat=2)
    ]
    return lines("nodes,input,duration,cost", ",GB,h,USD", *rows)


def commented_header() -> str:
    """The header is a comment, as some scripts write it; bytes were set, an error came out."""
    rows = [
        f"{machine},{scaleout},{size},{0.1 + (scaleout * 7 + size % 11 + ord(machine[0])) % 13 / 100:.3f},"
        f"{size / scaleout / 1e6 * (2 if machine == 'm5' else 1) + rep:.1f}"
        for machine, scaleout, size, rep in product(("m5", "c5"), (2, 4, 8), (10**9, 5 * 10**9), (0, 1))
    ]
    return lines("#machine,scaleout,dataset_size_bytes,test_error,walltime", *rows)


def slurm() -> str:
    """What `sacct -p` prints."""
    ends = {(1, 8): "TIMEOUT", (1, 16): "CANCELLED by 1001", (8, 16): "OUT_OF_MEMORY"}
    rows = []
    for number, (nodes, cpus) in enumerate(product((1, 2, 4, 8), (8, 16))):
        state = ends.get((nodes, cpus), "COMPLETED")
        seconds = 7200 if state == "TIMEOUT" else 32000 // nodes // cpus
        clock = f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
        code = "0:0" if state == "COMPLETED" else "0:125"
        rows.append(f"{5000 + number}|train|{nodes}|{cpus}|{clock}|{state}|{code}|64Gn")
    return lines("JobID|JobName|AllocNodes|CPUsPerNode|Elapsed|State|ExitCode|ReqMem", *rows)


def words_for_times() -> str:
    """No column for the end of a run: it stands where the time should."""
    return lines(
        "executors,memory,run time",
        *("1,4g,killed after 2h", "1,8g,1h 40m", "2,4g,timeout", "2,8g,55m", "4,4g,OOM", "4,8g,31m", "8,4g,22m"),
        "8,8g,19m",
    )


def more_than_the_limit() -> str:
    rows = []
    for executors, n in product((1, 2, 4, 8), (100000, 500000, 1000000)):
        seconds = n / executors / 50
        rows.append(f"{executors};{n};{'> 2h' if seconds > 7200 else f'{seconds:.0f} s'}")
    return lines("executors;rows;runtime", *rows)


def exit_codes() -> str:
    rows = [
        f"{cores},{memory},{137 if (cores, memory) == (8, 2) else 0},{500 / cores + (30 if memory < 4 else 0):.1f}"
        for cores, memory in product((1, 2, 4, 8), (2, 4, 8))
    ]
    return lines("num_cores,mem_gb,exit_code,wall_clock", *rows)


def mixed_booleans() -> str:
    rows = [
        f"{executors},{flag},{100 / executors + (flag in ('0', 'FALSE', 'no')) * 5 + rep:.1f}"
        for executors, flag, rep in product((1, 2, 4), ("0", "TRUE", "1", "FALSE", "yes", "no"), (0, 1))
    ]
    return lines("executors,spark.speculation,time_s", *rows)

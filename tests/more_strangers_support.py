"""More tables as ML engineers, analysts and capacity planners keep them, made here: none of them is anybody's."""

from itertools import product

from strangers_support import lines


def mlflow_page() -> str:
    """What the MLflow page downloads: a short commit as the version, durations in words, runs by name."""
    versions, rows = ("5e42030b", "91e10aa2", "4410338e"), []
    for number, (batch, workers) in enumerate(product((32, 64, 128), (1, 2, 4, 8))):
        minutes = 48 / workers * (64 / batch) ** 0.4 * (1 + 0.01 * (number % 3))
        status = "FAILED" if (batch, workers) == (128, 1) else "FINISHED"
        rows.append(
            f"2024-05-{number + 1:02d} 08:00:00,{minutes:.1f}min,{number * 7919:032x},mighty-owl-{number},LOCAL,"
            f"train.py,{versions[number % 3]},alice,{status},{batch},{workers},{0.8 + number * 7 % 12 / 100:.4f}"
        )
    return lines(
        "Start Time,Duration,Run ID,Name,Source Type,Source Name,Version,User,Status,batch_size,num_workers,val_auc",
        *rows,
    )


def commits() -> str:
    """Three commits were compared; some of their hashes look like numbers."""
    rows = [
        f"{commit},{workers},{size},{size / workers / 5000 * factor + rep:.1f}"
        for (commit, factor), workers, size, rep in product(
            (("5e42030b", 1.0), ("1e10", 1.2), ("4410338", 0.9)), (2, 4), (100000, 400000), (0, 1)
        )
    ]
    return lines("git_commit,workers,rows,runtime_s", *rows)


def grouped_header() -> str:
    """Excel: merged cells name groups of columns above the names of the columns."""
    rows = [
        f"{executors},{memory},{600 / executors + 40 / memory:.0f},{executors * 0.011:.3f}"
        for executors, memory in product((2, 4, 8), (4, 8, 16))
    ]
    return lines("Cluster,,Result,", "executors,memory (GB),runtime (s),cost ($)", *rows)


def thousands() -> str:
    """Excel in English: thousands in quotes, percentages, dollars."""
    rows = []
    for number, (nodes, n) in enumerate(product((2, 4, 8, 16), (250000, 1000000, 4000000))):
        seconds = 20 + n / nodes / 250
        rows.append(
            f'{nodes},"{n:,}","{seconds:,.1f}",{90 + number * 5 % 7}.{number % 10}%,"${seconds * nodes / 700:,.2f}"'
        )
    return lines("Nodes,Rows,Elapsed (sec),Accuracy,Cost", *rows)


def totals() -> str:
    """Totals and means below the runs."""
    found = [(e, p, 30 + 1200 / e + p / 20) for e, p in product((2, 4, 8), (50, 200, 800))]
    mean, whole = sum(s for *_, s in found) / 9, sum(s for *_, s in found)
    rows = [f"{e},{p},{s:.1f}" for e, p, s in found]
    return lines("executors,partitions,duration_s", *rows, f"Total,,{whole:.1f}", f"Average,,{mean:.1f}")


def wide() -> str:
    """One column for each size of the input, with times in the cells."""
    rows = [f"{n},{100 / n + 5:.1f},{500 / n + 6:.1f},{1000 / n + 9:.1f}" for n in (1, 2, 4, 8)]
    return lines("executors,10 GB,50 GB,100 GB", *rows)


def properties() -> str:
    rows = []
    for number, (instances, memory, partitions) in enumerate(product((2, 4, 8), ("4g", "8G"), (64, 200, 800))):
        kryo = "org.apache.spark.serializer.KryoSerializer"
        serializer = kryo if number % 2 else "org.apache.spark.serializer.JavaSerializer"
        took = int(1000 * (40 + 900 / instances + partitions / 50 + 5 * (memory == "4g")))
        rows.append(
            f"app-{number:04d},{instances},{memory},{partitions},{serializer},3.5.{number % 2},{took},SUCCEEDED"
        )
    return lines(
        "app_id,spark.executor.instances,spark.executor.memory,spark.sql.shuffle.partitions,spark.serializer,"
        "spark_version,app_duration_ms,final_status",
        *rows,
    )


def gpus() -> str:
    """Trainings on types of GPUs: the memory of a GPU follows from its type."""
    rows = []
    for number, ((kind, memory, speed), n, batch, precision) in enumerate(
        product((("A100", 80, 3.0), ("V100", 32, 1.0)), (1, 2, 4, 8), (16, 32), ("bf16", "fp32"))
    ):
        hours = 40 / n**0.9 / speed * (1.5 if precision == "fp32" else 1.0) * (32 / batch) ** 0.2
        rows.append(
            f"{kind},{n},{memory},{batch},{precision},{5e6 / hours:.0f},{hours * 36 / 1.7:.1f},{hours:.3f},"
            f"{2.1 + number * 11 % 32 / 100:.3f},{80 + number * 7 % 19}"
        )
    return lines(
        "gpu_type,n_gpu,gpu_mem_gb,per_gpu_batch_size,precision,tokens_per_sec,step_time_ms,total_hours,final_loss,"
        "avg_gpu_util_pct",
        *rows,
    )


def same_header_twice() -> str:
    """Cold and warm runs under one heading."""
    return lines("executors,time,time", *(f"{n},{100 / n + 20:.1f},{100 / n + 4:.1f}" for n in (1, 2, 4, 8)))


def pandas_index() -> str:
    """A frame that was filtered, shuffled and written twice with its index."""
    rows = []
    for number, (executors, cores, rep) in enumerate(product((1, 2, 4), (1, 2), (0, 1, 2))):
        rows.append(f"{number},{number * 7 % 41},{executors},{cores},{rep},{90 / executors / cores + number % 3:.2f}")
    return lines("Unnamed: 0,Unnamed: 0.1,executors,cores,rep,wall_time_s", *rows)


def analyst() -> str:
    """A log kept by hand: dates, names of data sets, words for the end of a run, remarks."""
    ends = {2: "FAILED - OOM", 5: "Timed out", 7: "OK (retry)", 9: "ok"}
    rows = []
    for number, (data, workers) in enumerate(product(("sales_2022", "sales_2023"), (2, 4, 6, 8, 10, 12))):
        minutes = (30 if data == "sales_2022" else 55) / workers + number % 2
        remark = "cluster was busy?" if number == 3 else ""
        took = "" if number in (2, 5) else f"{minutes:.1f}"
        rows.append(f"{number % 12 + 1}/{number + 1}/24,Mon,{data},{workers},{took},{ends.get(number, 'OK')},{remark}")
    return lines("Date,Day,Dataset,# workers,Refresh (min),Result,Notes", *rows)


def planner() -> str:
    """A capacity planner's sheet: amounts per host, a share in use, rates, hours and minutes."""
    rows = []
    for number, (hosts, cores) in enumerate(product((4, 8, 16, 32), (8, 16, 32))):
        minutes = int(9000 / hosts / cores * (1 + number % 3 * 0.01)) + 12
        clock = f"{minutes // 60}:{minutes % 60:02d}"
        measured = f"{40 + number * 7 % 45};{60 / minutes * 10:.2f};{200 + number * 31 % 97};{clock}"
        rows.append(f"{hosts};{cores};{cores * 4};{measured}")
    return lines("Host count;vCPU/host;RAM/host (GiB);Utilisation %;Jobs/h;p95 latency (ms);Makespan (h:mm)", *rows)


def remarks_between() -> str:
    """Comments between the runs, and a source below them."""
    rows = [f"{n},{m}g,{300 / n + 20 / m:.1f}" for n, m in product((1, 2, 4), (1, 2, 4))]
    return lines(
        "executors,memory,seconds", *rows[:4], "# rerun after the upgrade", "", *rows[4:], "Source: internal wiki"
    )


def cross_validation() -> str:
    """`pd.DataFrame(search.cv_results_).to_csv()` of scikit-learn."""
    rows = []
    for number, (trees, depth) in enumerate(product((50, 100, 200, 400), (4, 8, 16))):
        fit, score = trees * depth * 0.011 + 0.2, 0.8 + number * 5 % 12 / 100
        rows.append(
            f"{number},{fit:.4f},{0.01 * fit + number % 3 * 0.001:.4f},{0.02 * fit:.4f},{0.001 * (number % 2 + 1):.4f},"
            f"{depth},{trees},\"{{'max_depth': {depth}, 'n_estimators': {trees}}}\",{score - 0.01:.4f},"
            f"{score + 0.01:.4f},{score:.4f},0.0100,{number * 7 % 12 + 1}"
        )
    return lines(
        ",mean_fit_time,std_fit_time,mean_score_time,std_score_time,param_max_depth,param_n_estimators,params,"
        "split0_test_score,split1_test_score,mean_test_score,std_test_score,rank_test_score",
        *rows,
    )


def hyperfine() -> str:
    """`hyperfine --export-csv`."""
    rows = []
    for n in (1, 2, 4, 8):
        mean = 12 / n + 1.1
        spread = f"{0.03 + n / 1000:.4f},{mean - 0.01:.4f},9.{n},0.3,{mean - 0.1:.4f},{mean + 0.2:.4f}"
        rows.append(f"./job {n},{mean:.4f},{spread},{n}")
    return lines("command,mean,stddev,median,user,system,min,max,parameter_threads", *rows)


def japanese_spreadsheet() -> str:
    rows = []
    for number, (nodes, memory, n) in enumerate(product((2, 4, 8), (8, 16), (100000, 500000))):
        status = "失敗" if (nodes, memory, n) == (2, 8, 500000) else "成功"
        seconds = n / nodes / 1000 + 80 / memory
        rows.append(
            f"{nodes},{memory},{n},{seconds:.1f},{0.9 + number % 5 / 100:.3f},{nodes * seconds * 0.01:.1f},{status}"
        )
    return lines("ノード数,メモリ(GB),データ件数,実行時間(秒),精度,費用(円),状態", *rows)


def chinese_spreadsheet() -> str:
    rows = []
    for number, (executors, cores, size) in enumerate(product((2, 4, 8), (2, 4), (10, 50))):
        status = "失败" if (executors, cores, size) == (2, 2, 50) else "成功"
        minutes = size * 4 / executors / cores + 1
        rows.append(
            f"{executors},{cores},{size},{minutes:.2f},{91 + number % 5}%,{executors * minutes * 0.03:.2f},{status}"
        )
    return lines("执行器数量,核数,数据量(GB),运行时间(分钟),准确率,成本(元),状态", *rows)


def unknown_script() -> str:
    """Headings that no list has: they are names all the same."""
    rows = [f"{n},{k},{100 / n + k:.1f}" for n, k in product((1, 2, 4), (5, 10, 20))]
    return lines("კვანძები,παράμετρος,time_s", *rows)


def times_of_day() -> str:
    """When each run began, under the name that a duration has elsewhere."""
    runs = enumerate(product((1, 2, 4, 8), (0, 1)))
    return lines("time,executors,elapsed", *(f"{9 + i}:31:05,{n},{300 / n + rep:.0f}" for i, (n, rep) in runs))


def lost_parts() -> str:
    """What failed, and how long the job waited for a free queue, was set by nobody."""
    rows = [
        f"{n},{i % 3},{i % 2},{i * 37 % 50},{300 / n + rep}" for i, (n, rep) in enumerate(product((1, 2, 4, 8), (0, 1)))
    ]
    return lines("executors,failed_tasks,killed_executors,Queue wait (s),seconds", *rows)


def kubernetes() -> str:
    rows = [
        f"{n},{cpu}m,{2 * cpu}m,{memory}Mi,{300000 / n / cpu:.0f}s"
        for n, cpu, memory in product((1, 2, 4), (500, 1000), (2048, 4096))
    ]
    return lines("executors,cpu_request,cpu_limit,memory_limit,duration", *rows)

"""Tables in further languages, and of further clouds, tuners and consoles, made here: none of them is anybody's."""

from datetime import datetime, timedelta
from itertools import product

from strangers_support import lines

_GRID = tuple(product((2, 4, 8), (8, 16, 32)))  # machines, GB of memory


def _spreadsheet(header: str, bad: str, good: str, *, sign: str = "") -> str:
    """Machines, memory, minutes, accuracy in %, cost and status, with decimal commas; the smallest failed."""
    rows = []
    for number, (n, memory) in enumerate(_GRID):
        minutes = 90 / n + 16 / memory
        measured = f"{minutes:.1f};{90 + number % 7}.{number};{n * minutes * 1.7:.2f}{sign}".replace(".", ",")
        rows.append(f"{n};{memory};{measured};{bad if number == 0 else good}")
    return lines(header, *rows)


def russian() -> str:
    return _spreadsheet("Узлы;Память (ГБ);Время (мин);Точность, %;Стоимость (руб.);Статус", "ошибка", "успешно")


def ukrainian() -> str:
    return _spreadsheet("Вузли;Пам'ять (ГБ);Тривалість (хв);Точність, %;Вартість (грн);Стан", "помилка", "успішно")


def czech() -> str:
    return _spreadsheet("Počet uzlů;Paměť (GB);Doba běhu (min);Přesnost (%);Cena;Stav", "selhalo", "hotovo", sign=" Kč")


def turkish() -> str:
    return _spreadsheet("Düğüm sayısı;Bellek (GB);Süre (dk);Doğruluk (%);Maliyet (₺);Durum", "başarısız", "başarılı")


def finnish() -> str:
    return _spreadsheet("Solmuja;Muisti (Gt);Kesto (min);Tarkkuus (%);Hinta;Tila", "epäonnistui", "valmis", sign=" €")


def hungarian() -> str:
    return _spreadsheet(
        "Csomópontok száma;Memória (GB);Futásidő (perc);Pontosság (%);Költség (€);Állapot", "sikertelen", "sikeres"
    )


def greek() -> str:
    return _spreadsheet("Κόμβοι;Μνήμη (GB);Χρόνος (λεπτά);Ακρίβεια (%);Κόστος (€);Κατάσταση", "αποτυχία", "επιτυχία")


def korean() -> str:
    table = _spreadsheet("노드 수;메모리(GB);실행 시간(분);정확도(%);비용(원);상태", "실패", "성공")
    return table.replace(",", ".").replace(";", ",")


def indonesian() -> str:
    return _spreadsheet("Jumlah node;Memori (GB);Waktu (menit);Akurasi (%);Biaya (€);Status", "gagal", "berhasil")


def brazilian() -> str:
    """Hours and minutes as `1h42`, thousands with points, a question as the heading of the ends."""
    rows = []
    for number, (n, memory) in enumerate(_GRID):
        minutes = 200 // n + 16 // memory
        cost = f"R$ 1.{100 + 7 * number},{10 + number}"
        rows.append(f"{n};{memory} GB;{minutes // 60}h{minutes % 60:02d};{cost};{'Sim' if number else 'Não'}")
    return lines("Qtd. de nós;Memória RAM;Tempo total;Custo;Terminou?", *rows)


def german_cells() -> str:
    """Units and words in the cells: `1 Std. 40 Min.`, `nein (OOM)`."""
    rows = []
    for number, (n, size) in enumerate(product((2, 4, 8), (10, 20, 40))):
        minutes = size * 20 // n
        ended = "ja" if number else "nein (OOM)"
        rows.append(
            f"{n}\t{size} Mio.\t{minutes // 60} Std. {minutes % 60} Min.\t{number % 5},{number % 9}7 €\t{ended}"
        )
    return lines("Anz. Executoren\tDatensätze\tDauer\tKosten\terfolgreich?", *rows)


def glue() -> str:
    """Job runs of AWS Glue."""
    rows = []
    for number, (n, kind, rep) in enumerate(product((5, 10, 20), ("G.1X", "G.2X"), (0, 1))):
        seconds = 4000 // n // (2 if kind == "G.2X" else 1) + 30 * rep
        state = {1: "FAILED", 3: "TIMEOUT", 5: "STOPPED"}.get(number, "SUCCEEDED")
        start = datetime(2024, 3, 1, 10) + timedelta(hours=number)
        end = start + timedelta(seconds=seconds + 40)
        rows.append(f"jr_{number * 7919:08x},0,nightly,{start},{end},{end},{state},{seconds},2880,{kind},{n},4.0")
    return lines(
        "Id,Attempt,JobName,StartedOn,LastModifiedOn,CompletedOn,JobRunState,ExecutionTime,Timeout,WorkerType,"
        "NumberOfWorkers,GlueVersion",
        *rows,
    )


def synapse() -> str:
    """Applications of Azure Synapse: durations in words, of which the queue is one."""
    rows = []
    for number, (n, size, rep) in enumerate(product((3, 6, 12), ("Small", "Medium"), (0, 1))):
        seconds, queued = 1500 // n // (2 if size == "Medium" else 1) + 10 * rep, 30 + number * 11 % 40
        status = {1: "Failed", 5: "Cancelled"}.get(number, "Succeeded")
        total = seconds + queued
        rows.append(
            f"train_{number},{100 + number},ann@x.org,{status},{queued} sec,{seconds // 60} min {seconds % 60} sec,"
            f"{total // 60} min {total % 60} sec,{size},{n}"
        )
    return lines(
        "Application name,Livy ID,Submitter,Status,Queued duration,Running duration,Total duration,Node size,Executors",
        *rows,
    )


def ray_tune() -> str:
    """`results.get_dataframe().to_csv()`: where each trial ran, and settings behind `config/`."""
    rows = []
    for number, (workers, batch, rep) in enumerate(product((1, 2, 4), (32, 64), (0, 1))):
        seconds = 300 / workers * (64 / batch) ** 0.3 + rep
        rows.append(
            f"{0.4 + number * 7 % 13 / 100:.4f},{seconds / 10:.3f},True,10,{number:05x}_0000{number},"
            f"{1709287200 + number},{seconds:.4f},{4000 + number * 13},node-{number % 3},10.0.0.{number % 3},"
            f"{seconds:.4f},{batch},{workers}"
        )
    return lines(
        "loss,time_this_iter_s,done,training_iteration,trial_id,timestamp,time_total_s,pid,hostname,node_ip,"
        "time_since_restore,config/batch_size,config/num_workers",
        *rows,
    )


def gnu_time() -> str:
    """What `time -v` prints, one run a row."""
    rows = []
    for number, (cores, k) in enumerate(product((1, 2, 4, 8), (10, 100, 1000))):
        seconds, code = k / cores / 2 + 4, 137 if (cores, k) == (1, 1000) else 0
        clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}.{number % 10}{number % 7}"
        rows.append(
            f"{cores},{k},{seconds * cores * 0.9:.2f},{seconds * 0.02:.2f},{90 * cores}%,{clock},"
            f"{200000 + 321 * k},{code}"
        )
    return lines(
        "cores,k,User time (seconds),System time (seconds),Percent of CPU this job got,"
        "Elapsed (wall clock) time (h:mm:ss or m:ss),Maximum resident set size (kbytes),Exit status",
        *rows,
    )


def hibench() -> str:
    """The report of a suite: columns separated by blanks, rates beside times."""
    rows = []
    for number, (n, rep) in enumerate(product((1, 2, 4, 8), (0, 1, 2))):
        seconds = 100 / n + 3 + rep
        rate = int(4016371784 / seconds)
        rows.append(
            f"Kmeans   2024-03-{number + 1:02d} 10:00:{number:02d}  4016371784   "
            f"{seconds:.3f}   {rate}  {rate // n}  {n}"
        )
    return lines(
        "Type   Date   Time   Input_data_size   Duration(s)   Throughput(bytes/s)  Throughput/node  Nodes", *rows
    )


def console() -> str:
    """Slurm's own columns with a line of dashes under the header."""
    rows = [
        f"{1000 + i:<12} {'train':>10} {c:>10} {'TIMEOUT' if i == 1 else 'COMPLETED':>10} 00:{50 // c + rep:02d}:00 "
        for i, (c, rep) in enumerate(product((2, 4, 8, 16), (0, 1, 2)))
    ]
    return lines(
        "       JobID    JobName  AllocCPUS      State    Elapsed ",
        "------------ ---------- ---------- ---------- ---------- ",
        *rows,
    )


def postgres() -> str:
    rows = [f" {n:9} | {m:5}g | 00:{40 // n + m:02}:11" for n, m in product((1, 2, 4), (2, 4, 8))]
    return lines(" executors | memory | runtime ", "-----------+--------+---------", *rows, "(9 rows)", "")


def billing() -> str:
    """Databricks: units of consumption, their cost and that of the machines, all of them measured."""
    rows = [
        f"{n},{engine},{3600 / n * factor:.0f},{factor * 1.3 + n / 100:.2f},{n * 0.0311 * factor:.3f}"
        for n, (engine, factor) in product((2, 4, 8), (("photon", 0.6), ("standard", 1)))
    ]
    return lines("workers,runtime engine,duration (s),DBUs,DBU cost ($)", *rows)


def load_test() -> str:
    """Two settings end like measurements: a rate that was sent, a delay that was set."""
    rows = [
        f"{delay},{loss},{n},{100 / n + 2 * delay + loss:.2f}"
        for delay, loss, n in product((1, 10, 100), (0, 5), (2, 4))
    ]
    return lines("latency_ms,packet_loss_percent,nodes,completion_time", *rows)


def rates() -> str:
    rows = [
        f"{rate},{n},{rate / n * 5:.1f},{i * 5 % 4 / 1000:.4f}"
        for i, (rate, n) in enumerate(product((10, 50, 100), (1, 2, 4)))
    ]
    return lines("requests/s,replicas,p95_ms,error rate", *rows)


def hourly() -> str:
    """What a machine costs an hour is no time and no cost of a run."""
    rows = [f"{n},{price},{480 / n + 3:.1f},{n * price:.3f}" for n, price in product((2, 4, 8), (0.192, 0.384))]
    return lines("instances,hourly price,runtime_minutes,$/h", *rows)


def fitted() -> str:
    """Attributes that scikit-learn's estimators have after a fit."""
    rows = [
        f"{n},{k},{k < 50 or n > 2},{20 + k // 3 + n},{600 / n + k:.1f}"
        for n, k in product((1, 2, 4, 8), (10, 50, 100))
    ]
    return lines("executors,k,converged,n_iter_,fit_time", *rows)


def nanoseconds() -> str:
    rows = [f"{n},{m},{int((600 / n + 20 / m) * 1e9)},{int(6e8 / n)}" for n, m in product((1, 2, 4), (2, 4, 8))]
    return lines("executors,memory_gb,duration_ns,gc_us", *rows)


def microseconds() -> str:
    rows = [f"{n},{b},{int((6 / n + 2 / b) * 1e6)}" for n, b in product((1, 2, 4), (2, 4, 8))]
    return lines("threads,batch,latency (µs)", *rows)


def spread() -> str:
    """`±` behind the means, `~` in front of some."""
    rows = [
        f"{n},{m}g,{'~' if m == 4 else ''}{600 / n + 20 / m:.1f} ± {3 / n:.1f}"
        for n, m in product((1, 2, 4), (2, 4, 8))
    ]
    return lines("executors,memory,runtime (s)", *rows)


def ditto() -> str:
    rows = [f"{n if m == 2 else chr(34) * 4},{m},{600 / n + 20 / m:.1f}" for n, m in product((1, 2, 4), (2, 4, 8))]
    return lines("executors,memory_gb,time_s", *rows)


def over_midnight() -> str:
    start, rows = datetime(2024, 3, 1, 22), []
    for n, m in product((1, 2, 4), (2, 4, 8)):
        end = start + timedelta(minutes=60 // n + 8 // m)
        rows.append(f"{n},{m},{start:%H:%M},{end:%H:%M}")
        start = end + timedelta(minutes=5)
    return lines("executors,memory_gb,start,end", *rows)


def seconds_alone() -> str:
    rows = [f"{n},{b},0.9{n + b % 7},{100 / n + b:.1f}" for n, b in product((1, 2, 4), (16, 32, 64))]
    return lines("gpus,batch,acc,sec", *rows)


def arabic() -> str:
    table = _spreadsheet("عدد العقد;الذاكرة (GB);الوقت (دقيقة);الدقة (%);التكلفة (€);الحالة", "فشل", "نجح")
    return table.replace(",", ".").replace(";", ",")


def sagemaker() -> str:
    """Training jobs of AWS: the unit of a time is in its name, without brackets."""
    rows = []
    for number, (kind, n, rep) in enumerate(product(("ml.p3.2xlarge", "ml.g4dn.xlarge"), (1, 2, 4), (0, 1))):
        seconds = int(7200 / n * (1 if "p3" in kind else 2.2)) + rep * 30
        status = {3: "Stopped", 7: "Failed"}.get(number, "Completed")
        rows.append(f"train-{number:03d},{status},{kind},{n},30,{seconds},{seconds // 2},{0.8 + number % 5 / 100:.3f}")
    return lines(
        "TrainingJobName,TrainingJobStatus,InstanceType,InstanceCount,VolumeSizeInGB,TrainingTimeInSeconds,"
        "BillableTimeInSeconds,validation:auc",
        *rows,
    )


def load_generator() -> str:
    """Statistics of requests under names that say nothing else, and how often each run was tried."""
    rows = [
        f"{u},{n},{1 + (u == n)},{u * 20 / n:.0f},{40 * u / n:.0f},{90 * u / n:.0f},{n * 9.3:.1f},{50 / n + u:.1f}"
        for u, n in product((10, 20, 40), (1, 2, 4))
    ]
    return lines("Threads,Pods,attempts,Average,Median,99% Line,TFLOPS,elapsed", *rows)


def english_words() -> str:
    rows = [
        f"{n},{m},{60 / n + 16 / m:.1f},{n * 0.6 + m / 100:.2f},{'yes' if i else 'no'}"
        for i, (n, m) in enumerate(_GRID)
    ]
    return lines("Number of machines,Memory in GB,Time in minutes,Cost in EUR,Succeeded", *rows)


def bracketed_units() -> str:
    rows = [f"{n},{m},{60 / n + 16 / m:.1f},{i * 3 % 7}" for i, (n, m) in enumerate(_GRID)]
    return lines("nodes,memory,time,gc", "(#),(GB),(min),(s)", *rows)


def french_price() -> str:
    """What the machines cost, which follows from how many there are."""
    rows = [
        f"{n} ;{m} Go ;{60 // n} min {m} s ;{'OK' if i else 'KO'} ;{n * 0.12:.2f} €".replace(".", ",")
        for i, (n, m) in enumerate(_GRID)
    ]
    return lines("Machines ;Mémoire ;Temps d'exécution ;Etat ;Prix", *rows)


def training_log() -> str:
    """What came out is told by the rows alone: the best epoch, a verdict in words nobody listed."""
    best = (5, 5, 6, 9, 9, 9, 9, 5)
    rows = [
        f"{s},{lr},{bs},{opt},{120 / bs * 32 + i:.0f},{best[i]},{'good' if best[i] > 5 else 'meh'},{1 + lr * i:.1f}x"
        for i, (lr, bs, opt, s) in enumerate(product((0.001, 0.01), (32, 64), ("adam", "sgd"), (42,)))
    ]
    return lines("random_state,lr,bs,optimizer,wall_s,best_epoch,verdict in words,vs baseline", *rows)


def indian() -> str:
    rows = [f'{n},{m},{60 / n + 16 / m:.1f},"₹1,23,{400 + i}.50"' for i, (n, m) in enumerate(_GRID)]
    return lines("Nodes,RAM (GB),Time (mins),Cost", *rows)


# ---------------------------------------------------------------- what is asked about


def catalan() -> str:
    """A heading and a word for good runs that are on no list, beside a word for failures that is."""
    rows = [f"{n};{m};{60 / n + 16 / m:.1f};{'correcte' if i else 'error'}" for i, (n, m) in enumerate(_GRID)]
    return lines("Nombre de nodes;Memòria (GB);Temps (min);Estat", *rows)


def fused() -> str:
    """Two settings in one cell."""
    rows = [f"{n}x m5.{s}xlarge,{480 / n / s + 3:.1f}" for n, s in product((2, 4, 8), (1, 2, 4))]
    return lines("cluster,minutes", *rows)


def command_lines() -> str:
    """The log of GNU parallel: settings stand in the command alone."""
    rows = [
        f"{i + 1}\t:\t{1709287200 + i * 900}.1\t{600 / e + 30 / m:.3f}\t0\t{2000 + i}\t{int(i == 0)}\t0\t"
        f"spark-submit --num-executors {e} --executor-memory {m}g train.py"
        for i, (e, m) in enumerate(product((2, 4, 8), (4, 8, 16)))
    ]
    return lines("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand", *rows)


def numbers_for_none(number: str) -> str:
    rows = [
        f"{n},{m},{number if n == 1 and m < 8 else round(600 / n + 20 / m, 1)}"
        for n, m in product((1, 2, 4), (2, 4, 8))
    ]
    return lines("executors,memory_gb,time_s", *rows)


def clusters() -> str:
    """The state is that of the cluster, and not of the runs."""
    rows = [f"WAITING,{n},{m},{600 / n + 20 / m:.1f}" for n, m in product((1, 2, 4), (2, 4, 8))]
    return lines("State,nodes,memory_gb,seconds", *rows)

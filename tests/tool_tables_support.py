"""Tables as schedulers, tuners and people in other countries write them, made here: none of them is anybody's."""

from itertools import product

from strangers_support import lines


def nextflow() -> str:
    """The trace of a workflow: `exit`, `%cpu` and what was read and written beside the settings of each task."""
    rows = []
    for number, (cpus, memory) in enumerate(product((2, 4, 8), (4, 8, 16))):
        seconds, is_lost = 3000 // cpus + number, (cpus, memory) == (8, 4)
        rows.append(
            f"{number + 1}\t{number:02x}/ab12cd\tFIT (s{number})\t{'FAILED' if is_lost else 'COMPLETED'}\t"
            f"{137 if is_lost else 0}\t2024-05-01 10:{number:02d}:00.000\t{seconds // 60}m {seconds % 60}s\t"
            f"{cpus * 88.1:.1f}%\t{cpus}\t{memory} GB\t{memory * 0.7:.1f} GB\t1.{number} GB\t{400 + 37 * number} MB"
        )
    return lines(
        "task_id\thash\tname\tstatus\texit\tsubmit\tduration\t%cpu\tcpus\tmemory\tpeak_rss\trchar\twchar", *rows
    )


def sacct() -> str:
    """Slurm: days before the clock, and the largest memory that was used."""
    rows = [
        f"{1000 + i}|{n}|{cpus}|{1 if n == 1 else 0}-{20 // n:02d}:{10 + i}:15|"
        f"{'TIMEOUT' if (n, cpus) == (1, 8) else 'COMPLETED'}|{20 + 7 * i % 23}G"
        for i, (n, cpus) in enumerate(product((1, 2, 4), (8, 16, 32)))
    ]
    return lines("JobID|NNodes|NCPUS|Elapsed|State|MaxRSS", *rows)


def iso_durations() -> str:
    rows = [f"{n},{m},PT{900 // n // 60}M{900 // n % 60 + m}.5S" for n, m in product((1, 2, 4), (4, 8, 16))]
    return lines("executors,memory,duration", *rows)


def polish_spreadsheet() -> str:
    rows = [
        f"{n};{m};{900 / n + m:.1f};{n * m / 10:.2f} zł;{88 + n * m % 7}.5%".replace(".", ",")
        for n, m in product((2, 4, 8), (8, 16, 32))
    ]
    return lines("Liczba węzłów;Pamięć (GB);Czas trwania (s);Koszt;Dokładność", *rows)


def dutch_spreadsheet() -> str:
    rows = [
        f"{n};{m};{9 / n + m / 100:.2f};€ {n * m / 10:.2f};{'mislukt' if (n, m) == (2, 4) else 'geslaagd'}".replace(
            ".", ","
        )
        for n, m in product((2, 4, 8), (4, 8, 16))
    ]
    return lines("Aantal nodes;Geheugen (GB);Looptijd (uren);Kosten;Status", *rows)


def swedish_spreadsheet() -> str:
    rows = [
        f"{n};{m};{90 / n + m / 8:.1f};0.{800 + n * m}".replace(".", ",") for n, m in product((2, 4, 8), (4, 8, 16))
    ]
    return lines("Antal noder;Minne (GB);Körtid (min);Noggrannhet", *rows)


def scaling() -> str:
    """What was computed from the times stands beside them."""
    rows = [
        f"{n},{size},{size * 60 / n:.1f},{n * 0.97:.2f},{97 - n / 2:.1f}%"
        for n, size in product((1, 2, 4, 8), (10, 40))
    ]
    return lines("cores,size (GB),time [s],speedup,efficiency", *rows)


def pods() -> str:
    """Kubernetes, with the paths of its fields as names."""
    rows = [
        f"{n},{cpu}m,{memory}Mi,{400000 // n // cpu}m{cpu % 7}s,{'Failed' if (n, memory) == (2, 1024) else 'Succeeded'}"
        for n, cpu, memory in product((2, 4), (500, 2000), (1024, 4096))
    ]
    return lines("replicas,resources.requests.cpu,resources.requests.memory,pod_duration,phase", *rows)


def moved() -> str:
    rows = [f"{n},{m},{8452193156 // n + 97 * m},{900 / n + m:.1f}" for n, m in product((2, 4, 8), (2, 4))]
    return lines("executor_count,executor_memory_gb,shuffle_read,job_time", *rows)


def samples() -> str:
    rows = [f"{p}%,{t},{n},{p * t / n / 10:.1f},0.{700 + p + t}" for p, t, n in product((10, 50), (20, 100), (2, 4))]
    return lines("sample_pct,trees,n_executors,fit_seconds,AUROC", *rows)


def repeats(names: str = "run 1 (s),run 2 (s),run 3 (s),mean (s)") -> str:
    rows = [
        f"{n},{m}g,{600 / n + m},{602 / n + m},{610 / n + m},{604 / n + m}" for n, m in product((1, 2, 4), (2, 4, 8))
    ]
    return lines(f"executors,memory,{names}", *rows)


def one_number_per_row() -> str:
    rows = [
        f"r{n},{n},{name},{value}"
        for n in (1, 2, 4)
        for name, value in (("time_s", 600 / n), ("accuracy", 0.8 + n / 100))
    ]
    return lines("run_id,executors,metric,value", *rows)


def jmh() -> str:
    rows = [
        f'"x.Sort.run","avgt",{t},20,{n / t / 10 + 0.576:.3f},{0.1 + n % 7 / 50 + t / 90:.3f},"ms/op",{n}'
        for n, t in product((1000, 10000, 50000), (1, 2, 4))
    ]
    return lines('"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: size"', *rows)

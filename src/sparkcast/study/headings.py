"""Headings of columns as people write them, in several languages, with their units: split into plain English words."""

import re
import unicodedata
from functools import cache, lru_cache

from sparkcast.study.heading_languages import UNITS, WORDS
from sparkcast.study.heading_scripts import in_english

# What stands for a unit in a heading, and the ending that it becomes.
_UNITS: dict[str, str] = {
    unit: ending
    for ending, units in {
        "_s": "s sec secs second seconds sek sekunde sekunden sekunder seconden sekundy seconde secondes "
        "segundo segundos secondo secondi seg",
        "_ms": "ms msec msecs millis millisecond milliseconds millisekunden millisecondes",
        "_us": "us µs μs usec usecs micros microsecond microseconds mikrosekunden",
        "_ns": "ns nsec nanos nanosecond nanoseconds nanosekunden",
        "_min": "m min mins minute minutes minuten minuter minutter minuty minuto minutos minuti",
        "_h": "h hr hrs hour hours uur uren tim timmar timer godz std stunde stunden heure heures hora horas ora ore",
        "_d": "d day days tag tage jour jours dia dias giorno giorni",
        "_percent": "% percent pct prozent",
        "_kb": "kb ko kbytes",
        "_kib": "kib",
        "_mb": "mb mo mbytes",
        "_mib": "mib",
        "_gb": "gb go gbytes",
        "_gib": "gib",
        "_tb": "tb",
        "_tib": "tib",
        "_bytes": "bytes byte octets octet",
        "_eur": "€ eur euro euros",
        "_usd": "$ usd us$ dollar dollars",
        "_gbp": "£ gbp",
        "_jpy": "¥ jpy yen",
        "_chf": "chf",
        "_cny": "cny rmb",
        "_pln": "zł pln",
        "_inr": "₹ inr",
        "_rub": "₽ rub",
        "_krw": "₩ krw",
        "_try": "₺",
        "_czk": "czk",
        "_huf": "huf",
        "_brl": "brl",
    }.items()
    for unit in units.split()
}
_UNITS |= {unit: f"_{ours}" for unit, ours in UNITS.items()}
_CLOCKS = {"mm:ss": "min", "m:ss": "min", "min:s": "min", "min:sec": "min", "hh:mm": "h", "h:mm": "h", "h:min": "h"}
CURRENCIES = {"_eur": "EUR", "_usd": "USD", "_gbp": "GBP", "_jpy": "JPY", "_chf": "CHF", "_cny": "CNY"}
CURRENCIES |= {"_pln": "PLN", "_inr": "INR"} | {
    f"_{code}": code.upper() for code in "rub uah krw try czk huf brl".split()
}

_BRACKETED = re.compile(r"(.*\S)(\s*)[(\[]\s*([^()\[\]]{1,12}?)\s*[)\]]")
_CLOCK_FORM = re.compile(r"(.*\S)\s*[(\[]\s*[hms]+:[hms:]+(?:\s*(?:or|/|,)\s*[hms:]+)+\s*[)\]]", re.IGNORECASE)
_BEHIND = re.compile(r"(.*\S)\s*(/|,|\s(?:in|en|em|в|у)\s)\s*(\S{1,12})", re.IGNORECASE)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]{2,}s?$)")

# One English word for each of the others. German joins words, so that some stand for two.
_TRANSLATED: dict[str, str] = {
    word: english
    for english, words in {
        "accuracy": "genauigkeit trefferquote exactitude justesse exactitud acuracia accuratezza nauwkeurigheid "
        "noggrannhet nøjagtighed nøyaktighet dokładnosc",
        "attempt": "versuch essai intento tentativo tentativa poging forsok forsøg",
        "batch": "lote lotto stapel",
        "batch_size": "batchgrosse batchgroesse stapelgrosse",
        "cause": "grund ursache raison motivo causa oorzaak reden orsak arsag arsak przyczyna",
        "comment": "bemerkung bemerkungen kommentar anmerkung anmerkungen notiz notizen hinweis commentaire "
        "commentaires remarque remarques comentario comentarios observacion observaciones observacao observacoes "
        "commento nota notas opmerking opmerkingen kommentarer bemærkning uwagi komentarz",
        "completed": "abgeschlossen acheve completado completato concluido terminado terminato termine voltooid "
        "slutford fuldført fullført zakonczono",
        "cores": "kerne kernen coeurs nucleos nuclei rechenkerne cpukerne processorkernen karnor kerner kjerner "
        "rdzenie rdzeni",
        "cost": "kosten cout couts coste costes costo costi custo custos gesamtkosten kostnad kostnader omkostning "
        "omkostninger koszt koszty",
        "data": "daten donnees datos dati dados gegevens dane danych",
        "data_size": "datengrosse datengroesse datenmenge datenvolumen eingabegrosse datagrootte datavolym "
        "datamængde datamengde datastorlek datastørrelse",
        "dataset": "datensatz",
        "date": "datum fecha",
        "description": "beschreibung descripcion descrizione descricao beschrijving beskrivning opis",
        "duration": "dauer duree duracion durata duracao duur tijdsduur varaktighet varighed varighet trwania",
        "end": "ende fin fim einde slut koniec",
        "epochs": "epochen epoques epocas epoche epoken epoker epoki epok",
        "error": "fehler erreur errore erro fout fel feil fejl bład",
        "error_rate": "fehlerrate fehlerquote",
        "executors": "executoren executeurs ejecutores esecutori executores ausfuhrer exekutorer wykonawcy wykonawcow",
        "failed": "fehlgeschlagen echoue fallido fallito falhou mislukt misslyckad misslyckades mislykkedes mislyktes",
        "fraction": "anteil bruchteil fraccion frazione fracao",
        "input": "eingabe entree entrada invoer indata inndata wejscie",
        "instances": "instanzen instancias istanze",
        "iterations": "iterationen iteraciones iterazioni iteracoes iteraties iterationer iterasjoner iteracje "
        "iteracji",
        "loss": "verlust perte perdida perdita perda verlies forlust strata",
        "machines": "maschinen maquinas macchine rechner maskiner maszyny maszyn",
        "machine": "maschine maquina macchina maskin maskine maszyna",
        "machine_type": "maschinentyp instanztyp knotentyp machinetype maskintyp maskintype",
        "memory": "speicher arbeitsspeicher hauptspeicher memoire memoria geheugen werkgeheugen minne hukommelse "
        "pamiec pamieci",
        "memory_size": "speichergrosse",
        "n": "anzahl anz nombre nb nbre numero cantidad quantite aantal antal antall liczba ilosc",
        "nodes": "knoten noeuds nodos nodi nos rechenknoten knooppunten noder wezły wezłow",
        "price": "preis prix precio prezzo preco prijs pris cena",
        "precision": "prazision prazisions precisione precisao",
        "rate": "rate taux tasa tasso taxa",
        "recall": "rappel rueckruf sensitivitat",
        "result": "ergebnis resultat resultado risultato esito uitkomst resultaat utfall wynik",
        "rows": "zeilen datenzeilen datensatze lignes filas righe linhas enregistrements registros rijen regels rader "
        "rækker wiersze wierszy",
        "run": "lauf corrida ejecucion esecuzione execucao durchlauf uitvoering korning kørsel kjøring przebieg",
        "run_time": "laufzeit laufdauer rechenzeit rechendauer ausfuhrungszeit ausfuhrungsdauer gesamtzeit "
        "gesamtdauer looptijd rekentijd uitvoeringstijd kortid korningstid køretid kørselstid kjøretid",
        "servers": "serveurs servidores serwery serwerow",
        "size": "grosse groesse taille tamano tamanho dimensione grootte omvang storlek størrelse rozmiar",
        "start": "beginn debut inicio inizio",
        "status": "statut estado stato zustand etat",
        "success": "erfolg erfolgreich succes reussi reussite exito exitoso riuscito successo sucesso",
        "time": "zeit temps tiempo tempo tijd czas",
        "total": "gesamt insgesamt totale totaal totalt razem łacznie",
        "training_time": "trainingszeit trainingsdauer lernzeit trainingstijd traningstid treningstid træningstid",
        "type": "typ tipo typen",
        "user": "benutzer nutzer utilisateur usuario utente utilizador gebruiker anvandare bruker bruger uzytkownik",
        "workers": "arbeiter travailleurs trabajadores ouvriers",
        "node": "noeud nodo wezeł",
        "per": "je pro par por",
        "throughput": "durchsatz debit doorvoer",
        "used": "verbrauch verbraucht genutzt benutzt belegt verbruik gebruikt utilise utilisee consommation consommee "
        "usado usada utilizado utilizada consumo usato usata utilizzata",
        "utilization": "auslastung",
        "": "d de des du del della dei der die das la le les los las el l o da do dos of the",
    }.items()
    for word in words.split()
}
# German, Dutch and Scandinavian words are joined to one, the last saying what it is: `Testfehler`, `Trainingsverlust`.
_STEMS = "test train training batch job cluster spark cpu gpu max min top"
_JOINED = _TRANSLATED | {word: word for word in _STEMS.split()}
_JOINED |= {
    "validierung": "validation",
    "modell": "model",
    "mittel": "mean",
    "durchschnitt": "mean",
}
_LINKS = ("", "s", "n", "en", "es")
_SHORTEST = 3  # of a part
_LETTERS = {ord("œ"): "oe", ord("æ"): "ae", ord("ı"): "i"}
_OF_SPARK = ("spark_jobs", "spark_job")  # and not jobs that run at once
# Behind these a unit of time is theirs, and not that of a rate.
_TIMES = frozenset("time duration runtime run_time elapsed walltime latency took".split())


@lru_cache(maxsize=8192)
def plain_name(name: str) -> str:
    """A name as we would write it, with its unit at the end.

    >>> plain_name("Executor Memory (GB)"), plain_name("numExecutors"), plain_name("spark.executor.cores")
    ('executor_memory_gb', 'num_executors', 'executor_cores')
    >>> plain_name("Laufzeit [min]"), plain_name("Coût (€)"), plain_name("duration/ms"), plain_name("vCPU(s)")
    ('run_time_min', 'cost_eur', 'duration_ms', 'vcpus')
    >>> plain_name("実行時間（秒）"), plain_name("执行器数量")
    ('run_time_s', 'executors_n')
    """
    name = in_english(name)
    base, unit = (name[1:], "_percent") if name[:1] == "%" and name[1:].strip() else _unit_apart(name)
    words = _words(base)
    if not unit and len(words) > 2 and words[-2] == "in" and words[-1] in _UNITS:  # `TimeInSeconds`
        words, unit = words[:-2], _UNITS[words[-1]]
        base = "_".join(words)
    joined = {word: english for word in words if word not in _known() and (english := _apart(word))}
    if joined or not re.fullmatch(r"[a-z0-9_]*", base) or any(map(_known().get, words)):
        words = [joined.get(word, _known().get(word, word)) for word in words]
    plain = "_".join(filter(None, words)) or fold(base)
    return (plain if plain in _OF_SPARK else plain.removeprefix("spark_")) + unit


def heading_clock(name: str) -> str:
    """What a clock time of two parts starts with, where its heading says so: `Duration (mm:ss)` with min."""
    bracketed = _BRACKETED.fullmatch(name)
    return _CLOCKS.get(bracketed[3].lower(), "") if bracketed else ""


def is_unit(text: str) -> bool:
    """Whether a cell under a heading is the unit of its column: `GB`, `[min]`."""
    return text.strip("()[] ").casefold() in _UNITS


@cache
def _known() -> dict[str, str]:
    """The English of every word, without accents as `fold` leaves them."""
    return {fold(word): english for word, english in WORDS.items()} | _TRANSLATED


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """In lower case and without accents: `Größe` is `grosse`."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _unit_apart(name: str) -> tuple[str, str]:
    if clock := _CLOCK_FORM.fullmatch(name):
        return clock[1], ""
    if bracketed := _BRACKETED.fullmatch(name):
        base, space, text = bracketed.groups()
        if text == "s" and not space and not _is_time(base):
            return f"{base}s", ""  # `vcpu(s)`: one or several
        if text.startswith("per ") or ("/" in text and text.casefold() not in _UNITS):
            return f"{base} {_in_words(text)}", ""
        return base, _unit_ending(text)
    behind = _BEHIND.fullmatch(name)
    ending = _unit_ending(behind[3]) if behind else ""
    if behind is None or not ending:
        return name, ""
    is_rate = behind[2].strip() == "/" and not _is_time(behind[1])
    return (_in_words(name), "") if is_rate else (behind[1], ending)


def _unit_ending(text: str) -> str:
    return _UNITS.get(text.casefold().rstrip("."), "")


def _in_words(rate: str) -> str:
    """A rate without signs: `samples/s` is `samples per s`, `$/h` is `usd per h`."""
    parts = (part.strip() for part in rate.split("/"))
    return " per ".join(_unit_ending(part).removeprefix("_") or part for part in parts)


def _is_time(base: str) -> bool:
    return not _TIMES.isdisjoint(_known().get(word, word) for word in _words(base))


def _apart(word: str) -> str | None:
    """The English of a word that is joined of known ones; None of any other.

    >>> _apart("testfehler"), _apart("trainingsverlust"), _apart("maxiter")
    ('test_error', 'training_loss', None)
    """
    for end in range(len(word) - _SHORTEST, _SHORTEST - 1, -1):
        last = _TRANSLATED.get(word[end:])
        if not last or last == "per":
            continue
        stems = (word[:end].removesuffix(link) for link in _LINKS if word[:end].endswith(link))
        first = next((found for stem in stems if (found := _JOINED.get(stem)) and found != "per"), None)
        if first:
            return f"{first}_{last}"
    return None


def _words(base: str) -> list[str]:
    return re.split(r"[\W_]+", fold(_HUMPS.sub("_", base)))

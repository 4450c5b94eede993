"""Fetch and decompress the next pieces while the last ones are parsed: worth a thread where fetching takes long."""

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread

_DEPTH = 4
_LOOK_UP_S = 0.5  # how often a thread that waits sees whether it is still wanted


def read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same pieces, and at the end the same exception, made in a thread of their own."""
    queue: Queue[bytes | BaseException | None] = Queue(_DEPTH)
    unwanted = Event()

    def make() -> None:
        last: BaseException | None = None
        try:
            for piece in pieces:
                if not _put(queue, piece, unwanted):
                    return
        except BaseException as error:  # is raised where the pieces are used
            last = error
        _put(queue, last, unwanted)

    thread = Thread(target=make, name="decompress", daemon=True)
    thread.start()
    try:
        while isinstance(piece := queue.get(), bytes):
            yield piece
        if piece is not None:
            raise piece
    finally:
        unwanted.set()
        while thread.is_alive():
            try:
                queue.get_nowait()
            except Empty:
                thread.join(timeout=0.01)


def _put(queue: "Queue[bytes | BaseException | None]", item: bytes | BaseException | None, unwanted: Event) -> bool:
    while not unwanted.is_set():
        try:
            queue.put(item, timeout=_LOOK_UP_S)
        except Full:
            continue
        return True
    return False

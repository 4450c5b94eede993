"""What one log may cost to read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Reading stops at these, with what came before kept and the reason told.

    Real logs shrink 25 to 40 times when compressed. A file that grows more than `max_ratio` times, beyond its first
    `free_bytes`, is taken for a decompression bomb.
    """

    max_ratio: float = 150.0
    free_bytes: int = 4 * 2**20
    max_log_bytes: int = 2**40
    max_line_bytes: int = 64 * 2**20
    max_bad_lines: int = 100_000  # that are no events, when they outnumber the events ten to one

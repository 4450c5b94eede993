"""What the service counts of itself."""

import threading
from bisect import bisect_left
from collections import defaultdict

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestMetrics:
    """Requests by endpoint and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self.latencies: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS_S) + 1))
        self.sums_s: dict[str, float] = defaultdict(float)
        self.active = 0

    def count(self, method: str, endpoint: str, status: int, took_s: float) -> None:
        with self._lock:
            self.requests[method, endpoint, status] += 1
            self.latencies[endpoint][bisect_left(BUCKETS_S, took_s)] += 1
            self.sums_s[endpoint] += took_s

"""Runs jobs at the same time, as many as the processors bear: waiting jobs run next to computing ones."""

import os
import time
from dataclasses import dataclass, field

from processes import Running, reap

# Some oversubscription keeps the processors busy while jobs wait for the network and for each other.
OVERSUBSCRIPTION = 1.25
PROGRESS_SECONDS = 30
PAUSE_SECONDS = 0.05


@dataclass
class Job:
    """A suite or a check."""

    name: str
    command: list
    log: str
    # The average number of processors that it keeps busy, and its expected time; both only steer the order.
    cores: float = 0.5
    expected_seconds: float = 10
    limit_seconds: float = 900
    environment: dict = field(default_factory=dict)
    # The event stream, if the job runs tests.
    events: object = None
    # Runs before all other jobs are considered, in the order of the list.
    is_urgent: bool = False


def run(jobs, on_end, on_progress):
    """Runs all jobs, the longest first, and calls `on_end(running)` as each one ends."""
    capacity = (os.cpu_count() or 2) * OVERSUBSCRIPTION
    waiting = sorted(jobs, key=lambda job: (not job.is_urgent, -job.expected_seconds))
    active = []
    told = time.monotonic()
    while waiting or active:
        while job := next_job(waiting, capacity - sum(one.job.cores for one in active), not active):
            waiting.remove(job)
            active.append(Running(job))
        time.sleep(PAUSE_SECONDS)
        for running in reap(active):
            active.remove(running)
            on_end(running)
        for running in active:
            running.stop_if_over_time()
        if time.monotonic() - told > PROGRESS_SECONDS:
            told = time.monotonic()
            on_progress(active, waiting)


def next_job(waiting, free_cores, is_idle):
    """The first job in order that fits. An idle machine takes any job."""
    return next((job for job in waiting if is_idle or job.cores <= free_cores), None)

"""Long work that a page starts, watches and may cancel."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from theodolite.errors import InputError
from theodolite.studio.faults import NotFound

State = Literal["waiting", "running", "done", "failed", "cancelled"]
OVER = ("done", "failed", "cancelled")
# As many at a time; the others wait. Those that need the model wait for one another besides.
AT_ONCE = 2
# Jobs that are over are remembered so far back.
REMEMBERED = 100
_SECONDS_TO_END = 5.0


class Cancelled(Exception):
    """A person cancelled the work."""


@dataclass(eq=False)
class Job:
    """One piece of long work."""

    id: str
    title: str
    state: State = "waiting"
    step: str = ""
    done: int = 0
    total: int = 0
    error: str | None = None
    result: Any = None
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False)
    over: threading.Event = field(default_factory=threading.Event, repr=False)


class JobProgress:
    """Progress that the job's page shows; raises ``Cancelled`` once the job is cancelled."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @contextmanager
    def step(self, title: str, total: int) -> Iterator[None]:
        """Show a step."""
        self.check()
        self._job.step, self._job.done, self._job.total = title, 0, total
        yield

    def advance(self, texts: int) -> None:
        """Say that more is done."""
        self.check()
        self._job.done += texts

    def check(self) -> None:
        """Raise ``Cancelled`` if the job was cancelled; for work that has no steps to tell of."""
        if self._job.cancelled.is_set():
            raise Cancelled


Work = Callable[[JobProgress], Any]


class Jobs:
    """The jobs of a studio, oldest first."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._queue: SimpleQueue[tuple[Job, Work]] = SimpleQueue()
        self._workers = 0

    def start(self, title: str, work: Work) -> Job:
        """Begin some work in the background; what it returns, as JSON has it, is the job's result."""
        job = Job(secrets.token_urlsafe(12), title)
        with self._lock:
            over = [other.id for other in self._jobs.values() if other.state in OVER]
            for old in over[: max(0, len(over) - REMEMBERED)]:
                del self._jobs[old]
            self._jobs[job.id] = job
            if self._workers < AT_ONCE:
                self._workers += 1
                threading.Thread(target=self._work, name="job", daemon=True).start()
        self._queue.put((job, work))
        return job

    def get(self, id: str) -> Job:
        """A job by its id."""
        with self._lock:
            if id not in self._jobs:
                raise NotFound("no such job; it may be long over")
            return self._jobs[id]

    def list(self) -> list[Job]:
        """All jobs that are remembered."""
        with self._lock:
            return list(self._jobs.values())

    def cancel(self, id: str) -> Job:
        """Cancel a job; one that runs stops at its next step."""
        job = self.get(id)
        # Under the lock, so that what is told as cancelled is not begun in the same moment.
        with self._lock:
            job.cancelled.set()
            if job.state == "waiting":
                job.state = "cancelled"
        return job

    def close(self) -> None:
        """Cancel everything, and wait a little for it to end."""
        jobs = [job for job in self.list() if job.state not in OVER]
        for job in jobs:
            job.cancelled.set()
        for job in jobs:
            job.over.wait(_SECONDS_TO_END / len(jobs))

    def _work(self) -> None:
        while True:
            job, work = self._queue.get()
            with self._lock:
                job.state = "cancelled" if job.cancelled.is_set() else "running"
            _do(job, work)


def _do(job: Job, work: Work) -> None:
    progress = JobProgress(job)
    try:
        progress.check()
        job.result = work(progress)
        job.state = "done"
    except Cancelled:
        job.state = "cancelled"
    except InputError as fault:
        job.error, job.state = str(fault), "failed"
    except Exception as fault:  # whatever it was, the page must be told, and the next job done
        logging.getLogger(__name__).exception("%s failed", job.title)
        job.error, job.state = f"it failed ({type(fault).__name__}: {fault})", "failed"
    finally:
        job.over.set()


class JobInfo(BaseModel):
    """How far a job is."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    title: str
    state: State
    step: str = Field(description="What it is doing.")
    done: int = Field(description="How much of the step is done.")
    total: int = Field(description="How much the step is in all; 0 where nobody knows.")
    error: str | None = Field(description="Why it failed.")


class JobAnswer(JobInfo):
    """A job with what came of it."""

    result: Any = Field(description="What came of it, once it is done.")


def router(jobs: Jobs) -> APIRouter:
    """The routes of jobs."""
    api = APIRouter(prefix="/jobs", tags=["jobs"])

    @api.get("", summary="All jobs, oldest first", response_model=list[JobInfo])
    def list_jobs() -> list[Job]:
        return jobs.list()

    @api.get("/{id}", summary="How far a job is, and its result", response_model=JobAnswer)
    def one(id: str) -> Job:
        return jobs.get(id)

    @api.delete("/{id}", summary="Cancel a job", response_model=JobInfo)
    def cancel(id: str) -> Job:
        return jobs.cancel(id)

    return api

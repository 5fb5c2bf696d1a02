"""The spaces in which directions are measured live, one a reading, got ready by a job and then kept."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass

from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.studio.directions_book import Book
from theodolite.studio.directions_live import Live
from theodolite.studio.directions_models import LiveState
from theodolite.studio.directions_prepare import Wanted, get_ready
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import OVER, Job, Jobs
from theodolite.studio.workspace import Workspace

INSTRUMENT = "illusion"


@dataclass(frozen=True)
class Place:
    """A reading of illusion in a survey."""

    slug: str
    reading: str


class Spaces:
    """Books of directions and live spaces by reading; safe to use from several threads."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self._workspace, self._jobs = workspace, jobs
        self._lock = threading.Lock()
        self._preparing: defaultdict[Place, threading.Lock] = defaultdict(threading.Lock)
        self._books: dict[Place, Book] = {}
        self._wanted: dict[Place, Wanted] = {}
        self._stored: set[Place] = set()
        self._looking = threading.Lock()
        self._live: dict[Place, Live] = {}
        self._started: dict[Place, Job] = {}

    def place(self, slug: str, reading: str = "") -> Place:
        """The reading asked for, or the survey's own."""
        there = self._workspace.survey(slug).named(INSTRUMENT)
        if not there:
            raise NotFound(f"{slug} has no reading of {INSTRUMENT}; run it from the survey's page")
        if reading and reading not in there:
            raise NotFound(f"{slug} has no reading of {INSTRUMENT} called so; it has: {', '.join(there)}")
        return Place(slug, reading or there[0])

    def book(self, place: Place) -> Book:
        """The directions of a reading."""
        with self._lock:
            if place not in self._books:
                self._books[place] = Book(self._workspace.survey(place.slug).reading(place.reading))
            return self._books[place]

    def live(self, place: Place) -> Live | None:
        """Where any direction can be measured, once that is ready."""
        return self._live.get(place)

    def state(self, place: Place) -> LiveState:
        """Whether it is ready, and if not, what it would take."""
        job = self._started.get(place)
        running = job.id if job is not None and job.state not in OVER else None
        ready = place in self._live
        about = self._workspace.survey(place.slug).manifest.get("corpora", ())
        texts = sum(int(corpus.get("texts", 0)) for corpus in about)
        try:
            stored = ready or self._is_stored(place)
        except InputError as fault:
            return LiveState(ready=False, stored=False, texts=texts, reason=str(fault), job=running)
        return LiveState(ready=ready, stored=stored, texts=texts, reason=None, job=running)

    def start(self, place: Place) -> Job:
        """Get ready in the background, unless that is under way."""
        with self._lock:
            job = self._started.get(place)
            if job is not None and job.state not in OVER:
                return job

            def work(progress: Progress) -> None:
                self.prepare(place, progress)

            self._started[place] = self._jobs.start("Vectors and texts for directions", work)
            return self._started[place]

    def prepare(self, place: Place, progress: Progress) -> Live:
        """Get ready now, computing the vectors that the store lacks."""
        with self._preparing[place]:
            found = self._live.get(place)
            if found is not None:
                return found
            wanted = self._wanted_of(place)
            about = wanted.manifest["encoder"]
            kept = wanted.stored()
            if kept is None:
                # Another copy of the model, beside which the other pages go on asking theirs.
                wanted.compute(self._workspace.another_encoder(about), progress)
                kept = wanted.stored()
            if kept is None:
                raise InputError("the vectors are not in the store although they were just computed; look at its space")
            self._live[place] = get_ready(wanted, kept, self._workspace.encoder_of(about), progress)
            return self._live[place]

    def _is_stored(self, place: Place) -> bool:
        # Not the lock of preparing, which may be held for minutes.
        with self._looking:
            if place not in self._stored and self._wanted_of(place).stored() is not None:
                self._stored.add(place)
            return place in self._stored

    def _wanted_of(self, place: Place) -> Wanted:
        if place not in self._wanted:
            opened = self._workspace.survey(place.slug)
            manifest = opened.reading(place.reading).manifest
            if manifest["options"]["unit"] != "text":
                raise InputError("single tokens are the points of this reading: of them only its own tables are shown")
            if not manifest["encoder"]["layers"]:
                raise InputError("these vectors were brought along, with no encoder that could be asked")
            self._workspace.check_live(manifest["encoder"])
            self._wanted[place] = Wanted(manifest, tuple(opened.texts()), self._workspace.store)
        return self._wanted[place]

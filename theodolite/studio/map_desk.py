"""The maps of the open surveys, each put together once: points, colourings, texts, and vectors for scores."""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.illusion.points import Floats
from theodolite.instrument import Progress
from theodolite.studio.directions_concepts import Concepts, ConceptSpace
from theodolite.studio.directions_models import ConceptAsked, Separator
from theodolite.studio.directions_prepare import Wanted
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import OVER, Job, JobProgress, Jobs
from theodolite.studio.map_colours import Coloured, colourings
from theodolite.studio.map_models import AboutMap, Bounds, ConceptTyped, ScoresAbout, Vectors, VectorsState
from theodolite.studio.map_points import MapPoints, points_of, readings_with_map
from theodolite.studio.map_scores import Scores, about_vectors
from theodolite.studio.map_texts import MapTexts
from theodolite.studio.workspace import Opened, Workspace

NOT_STORED = "the texts' vectors are not in the store; have them computed first"


class Map:
    """One map of one survey."""

    def __init__(self, workspace: Workspace, concepts: Concepts, opened: Opened, reading: str) -> None:
        self._workspace, self._concepts, self.opened = workspace, concepts, opened
        self.points: MapPoints = points_of(opened, reading)
        self.colours: dict[str, Coloured] = colourings(opened, self.points)
        self._lock = threading.Lock()
        self._scores: Scores | None = None
        self._job: Job | None = None

    @cached_property
    def texts(self) -> MapTexts:
        """The points' texts."""
        return MapTexts(self.opened, self.points, self.colours)

    def about(self) -> AboutMap:
        """What the page must know first."""
        points, wanted, reason = self.points, None, None
        try:
            wanted = self._wanted
        except InputError as fault:
            reason = str(fault)
        return AboutMap(
            reading=points.reading,
            readings=readings_with_map(self.opened),
            unit="text" if points.positions is None else "token",
            count=len(points),
            bounds=_bounds(points),
            colourings=[one.about for one in self.colours.values()],
            vectors=Vectors(
                possible=wanted is not None,
                reason=reason,
                dim=self.opened.manifest["encoder"].get("dim"),
                seed=int(wanted.options["seed"]) if wanted else 0,
            ),
            without_texts=[name for name in points.corpora if self.opened.corpus(name) is None],
        )

    def scores(self, name: str) -> NDArray[np.float32]:
        """(n,) of the points along a direction; NotFound until the vectors are in the store."""
        vector = self._concept(name)[1] if self._concepts.is_one(name) else None
        found = self._stored()
        if found is None:
            raise NotFound(NOT_STORED)
        return found.along(name, vector)

    def scores_about(self, name: str) -> ScoresAbout:
        """How the scores along a direction are spread."""
        values = self.scores(name)
        there = values[np.isfinite(values)]
        if not len(there):
            raise NotFound("none of these points has a vector")
        low, median, high = np.quantile(there, [0.01, 0.5, 0.99]).tolist()
        title = self._concept(name)[0].title if self._concepts.is_one(name) else name
        return ScoresAbout(name=name, title=title, low=low, median=median, high=high, scored=len(there))

    def vectors_state(self) -> VectorsState:
        """Whether the vectors are at hand, or under way."""
        texts = len(self.points)
        job = self._job.id if self._job is not None and self._job.state not in OVER else None
        try:
            stored = self._stored() is not None
            if not stored:
                self._workspace.check_live(self._wanted.manifest["encoder"])
        except InputError as fault:
            return VectorsState(stored=False, texts=texts, reason=str(fault), job=job)
        return VectorsState(stored=stored, texts=texts, reason=None, job=job)

    def compute_vectors(self, jobs: Jobs) -> Job:
        """Put the vectors in the store, in the background, unless that is under way."""
        wanted = self._wanted
        self._workspace.check_live(wanted.manifest["encoder"])

        def work(progress: Progress) -> None:
            wanted.compute(self._workspace.another_encoder(wanted.manifest["encoder"]), progress)

        with self._lock:
            if self._job is None or self._job.state in OVER:
                self._job = jobs.start("Vectors of the map's texts", work)
            return self._job

    def learn(self, typed: ConceptTyped, progress: JobProgress) -> str:
        """The name of the direction from one list of texts to another."""
        wanted = self._wanted
        with progress.step("loading the encoder", 0):
            encoder = self._workspace.encoder_of(wanted.manifest["encoder"])
        with progress.step("embedding and separating the texts", 0), self._workspace.busy():
            asked = ConceptAsked(texts=typed.texts, others=typed.others)
            return self._concepts.learn(asked, encoder, dict(wanted.options), wanted.corpora)

    def _concept(self, name: str) -> tuple[Separator, Floats]:
        return self._concepts.get(name, ConceptSpace.of(self._wanted.manifest))

    @cached_property
    def _wanted(self) -> Wanted:
        """What the vectors are: those of the illusion reading, where the survey has one."""
        if self.points.positions is not None:
            raise InputError("single tokens are the points of this map: directions are scored for whole texts")
        of_texts = [
            name
            for name in (self.points.reading, *self.opened.named("illusion"))
            if self.opened.reading(name).manifest["options"].get("unit") == "text"
        ]
        manifest = self.opened.reading(of_texts[0] if of_texts else self.points.reading).manifest
        if not manifest["encoder"]["layers"]:
            raise InputError("these vectors were brought along, with no encoder that could be asked")
        corpora = {name: self.opened.corpus(name) for name in self.points.corpora}
        gone = [name for name, corpus in corpora.items() if corpus is None]
        if gone:
            raise InputError(f"the texts of {', '.join(gone)} are no longer at hand")
        there = tuple(corpus for corpus in corpora.values() if corpus is not None)
        return about_vectors(Wanted(manifest, there, self._workspace.store))

    def _stored(self) -> Scores | None:
        with self._lock:
            if self._scores is None:
                kept = self._wanted.stored()
                if kept is not None:
                    self._scores = Scores(self.points, self._wanted, kept)
            return self._scores


class Maps:
    """The maps by survey and reading; safe to use from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._concepts = workspace, Concepts(workspace.store)
        self._maps: dict[tuple[str, str], Map] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, slug: str, reading: str = "") -> Map:
        """A survey's map: of the reading named, or the first that has one."""
        opened = self._workspace.survey(slug)
        if not reading:
            reading = next(iter(readings_with_map(opened)), "")
        if not reading:
            raise NotFound(f"{slug} has no map: no reading of illusion or salience with one")
        with self._locks[slug]:
            if (slug, reading) not in self._maps:
                self._maps[slug, reading] = Map(self._workspace, self._concepts, opened, reading)
            return self._maps[slug, reading]


def _bounds(points: MapPoints) -> Bounds:
    if not len(points):
        return Bounds(left=-1, right=1, bottom=-1, top=1)
    return Bounds(
        left=float(points.x.min()),
        right=float(points.x.max()),
        bottom=float(points.y.min()),
        top=float(points.y.max()),
    )

"""What is in a store: its entries, and the corpora whose shards they hold. Reads only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from theodolite.errors import InputError
from theodolite.store.files import Files, Found
from theodolite.store.recipe import Entry
from theodolite.store.tables import HEAD_LENGTH, Damaged, read_rows

_IN_ENTRY = re.compile(r"arrays/([0-9a-f]{64})/(?:corpora/)?[^/]+")
_OWN = re.compile(r"about\.json|[^/]+\.arrow|corpora/[^/]+\.json")


@dataclass(frozen=True)
class CorpusNote:
    """That these shards, in this order, are a corpus: its name, its content hash, where it was read from."""

    corpus: str
    corpus_hash: str
    source: str
    shards: tuple[str, ...]


class Catalogue:
    """Finds entries and corpora below `arrays/`."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def files_by_key(self) -> dict[str, list[Found]]:
        """The store's own files by recipe key, those of killed writers among them."""
        groups: dict[str, list[Found]] = {}
        for file in self._files.walk("arrays"):
            match = _IN_ENTRY.fullmatch(file.path)
            if match and (file.temporary or _OWN.fullmatch(file.path.split("/", 2)[2])):
                groups.setdefault(match[1], []).append(file)
        return groups

    def entries(self) -> list[Entry]:
        """An entry for each recipe, the newest first."""
        entries = [self._entry(key, files) for key, files in self.files_by_key().items()]
        return sorted(entries, key=lambda entry: entry.newest, reverse=True)

    def find(self, key_prefix: str) -> str:
        """The one key that begins like this. InputError if there is none, or several."""
        keys = [key for key in self.files_by_key() if key_prefix and key.startswith(key_prefix)]
        if not keys:
            raise InputError(f"nothing is stored under {key_prefix!r}; `theodolite store ls` shows the keys")
        if len(keys) > 1:
            names = ", ".join(key[:12] for key in keys)
            raise InputError(f"{key_prefix!r} begins {len(keys)} keys ({names}); give more of it")
        return keys[0]

    def corpora(self, key: str) -> list[CorpusNote]:
        """The corpora noted for this recipe; a damaged note is passed over."""
        found = []
        for file in self._files.walk(f"arrays/{key}/corpora"):
            note = None if file.temporary else self._files.read_json(file.path)
            if note and note.keys() >= {"corpus", "corpus_hash", "source", "shards"}:
                shards = tuple(note["shards"])
                found.append(CorpusNote(note["corpus"], note["corpus_hash"], note["source"], shards))
        return found

    def corpus(self, key: str, name: str | None) -> CorpusNote:
        """The corpus with this name, or whose hash begins so; None if only one is known. Else InputError."""
        known = self.corpora(key)
        fits = [note for note in known if name in (None, note.corpus)]
        if not fits and name:
            fits = [note for note in known if note.corpus_hash.startswith(name)]
        if len(fits) == 1:
            return fits[0]
        names = ", ".join(f"{note.corpus} ({note.corpus_hash[:12]})" for note in fits or known) or "none"
        if not known:
            raise InputError(
                f"{key[:12]} holds no whole corpus: the run that makes it is not over, or these are single answers"
            )
        if not fits:
            raise InputError(f"the corpus {name!r} is not known for {key[:12]} (known: {names}); embed it first")
        raise InputError(f"{key[:12]} holds {len(fits)} corpora that fit: {names}; name one or its hash")

    def rows(self, path: str) -> int | None:
        """The rows in an array file, from its head alone; None if it is absent or its head is damaged."""
        head = self._files.head(path, HEAD_LENGTH)
        try:
            return None if head is None else read_rows(head)
        except Damaged:
            return None  # It stays: a listing changes nothing. It goes when somebody wants to read it.

    def _entry(self, key: str, files: list[Found]) -> Entry:
        about = self._files.read_json(f"arrays/{key}/about.json") or {}
        arrays = [file for file in files if file.path.endswith(".arrow")]
        return Entry(
            key=key,
            kind=about.get("kind", "?"),
            model=about.get("model", "?"),
            parts=tuple(about.get("parts", {}).items()),
            corpora=tuple(sorted({note.corpus for note in self.corpora(key)})),
            shards=len(arrays),
            rows=sum(self.rows(file.path) or 0 for file in arrays),
            bytes=sum(file.bytes for file in files),
            newest=max(file.modified for file in files),
        )

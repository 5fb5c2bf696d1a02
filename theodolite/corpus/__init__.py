"""Reading texts: files of several formats and Hugging Face data sets become one kind of immutable table."""

from theodolite.corpus.corpus import Corpus, Shard

__all__ = ["Corpus", "Shard"]

"""The errors that a user can mend."""


class InputError(Exception):
    """The input is at fault: a file, a row, an option.

    Its message is one clear line that names the culprit and says what to do. The command line prints
    that line and exits with 2; in Python it is an ordinary exception.

    >>> raise InputError("reviews.csv: no column 'txt' (it has: id, text); name one with ?text=text")
    Traceback (most recent call last):
    ...
    theodolite.errors.InputError: reviews.csv: no column 'txt' (it has: id, text); name one with ?text=text
    """


class MissingColumn(InputError):
    """A source has no column of the name that was asked for."""


class StoreError(InputError):
    """The place where results are kept is at fault (full, not to be reached, a file gone), whatever is measured."""

"""The database of runs as the commands open it: for saved runs, and for words to running ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from planloop.savers import Saver, open_saver
from planloop.stores import Store, open_store

from .paths import database_url


class Database(NamedTuple):
    """A database of runs, open."""

    saver: Saver
    store: Store


@contextmanager
def opened(db: str | None, *, must_exist: bool = False) -> Iterator[Database]:
    """Open what `--db` names, or the default, in both of its uses.

    Raises:
        StoreError: It must exist and does not, or cannot be opened.
    """
    url = database_url(db, must_exist=must_exist)
    with open_saver(url) as saver, open_store(url) as store:
        yield Database(saver, store)

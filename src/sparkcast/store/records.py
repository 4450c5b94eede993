"""The record of an application as a few bytes: compressed JSON, about two kilobytes for a job of twenty stages.

b"record1", then the fields of `AppRecord` that are not at their defaults.
"""

import zlib

from sparkcast.errors import StoreError
from sparkcast.plain import from_json, from_plain, to_json, to_plain
from sparkcast.study import AppRecord

_MAGIC = b"record1"


def pack_record(record: AppRecord) -> bytes:
    return _MAGIC + zlib.compress(to_json(to_plain(record, omit_defaults=True)), 6)


def unpack_record(packed: bytes) -> AppRecord:
    """Raises StoreError for bytes that are damaged, or of a later version of sparkcast."""
    if not packed.startswith(_MAGIC):
        raise StoreError(
            f"the record of a run begins with {packed[: len(_MAGIC)]!r}, which this version cannot read",
            hint="upgrade sparkcast: pip install --upgrade sparkcast",
        )
    try:
        return from_plain(AppRecord, from_json(zlib.decompress(packed[len(_MAGIC) :])))
    except (zlib.error, ValueError) as error:
        raise StoreError(f"the record of a run is damaged: {error}", hint="ingest its log again") from error

"""When the trials of a study were first begun."""

import sqlalchemy as sa

from sparkcast.store import schema
from sparkcast.store.store import Store


def first_launches(store: Store, study: str) -> dict[str, float]:
    """Seconds since the Unix epoch, by the keys of trials; those of runs that were lost count too."""
    query = (
        sa.select(schema.trials.c.key, sa.func.min(schema.runs.c.launched_at).label("at"))
        .select_from(schema.runs.join(schema.trials))
        .where(schema.trials.c.study == study)
        .group_by(schema.trials.c.key)
    )
    with store.database.transaction() as connection:
        return {row.key: float(row.at) for row in connection.execute(query)}

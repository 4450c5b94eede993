"""How fast the nodes of clusters are, as it was measured."""

from collections.abc import Mapping

import sqlalchemy as sa

from sparkcast.plain import from_plain, to_plain
from sparkcast.store import schema
from sparkcast.store.store import Store
from sparkcast.study import ClusterSpeed


def keep_speed(store: Store, cluster: str, speed: ClusterSpeed) -> None:
    """One more measurement of a cluster: the latest counts."""
    values = {"cluster": cluster, "measured_s": speed.measured_s, "nodes": to_plain(speed)["nodes"]}
    with store.database.transaction() as connection:
        kept = schema.cluster_speeds.c
        same = (kept.cluster == cluster) & (kept.measured_s == speed.measured_s)
        connection.execute(schema.cluster_speeds.delete().where(same))
        connection.execute(schema.cluster_speeds.insert().values(values))


def stored_speeds(store: Store) -> Mapping[str, ClusterSpeed]:
    """The latest of each cluster."""
    kept = schema.cluster_speeds
    with store.database.transaction() as connection:
        rows = connection.execute(sa.select(kept).order_by(kept.c.measured_s)).all()
    plain = {row.cluster: {"measured_s": row.measured_s, "nodes": row.nodes} for row in rows}
    return {cluster: from_plain(ClusterSpeed, one) for cluster, one in plain.items()}

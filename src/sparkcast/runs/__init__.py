"""From trials to stored observations: real runs on a cluster, resumable, crash-safe."""

"""Finding good settings with few real runs: the loop, its ledger, and the searchers, one file each."""

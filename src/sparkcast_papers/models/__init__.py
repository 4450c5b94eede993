"""Models that one paper or textbook describes, one file each."""

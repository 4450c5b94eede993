"""What was learned from runs, now or earlier: predictions, curves by epoch, the chance of failing; model files."""

"""What models share: the learning problem, settings as numbers, physical terms, and the uncertainty around points."""

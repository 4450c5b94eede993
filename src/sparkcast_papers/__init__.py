"""The papers that sparkcast does again: one folder each, one public module per part.

A package like anybody's: it uses public names of sparkcast only, and sparkcast finds it through entry points (see
`pyproject.toml`). Beside the replications it brings what serves only them: the models of myung2020, the grids of
settings that the papers searched, and leave-one-out without refitting.
"""

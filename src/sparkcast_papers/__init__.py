"""The papers that sparkcast does again, one folder each with one public module per part, and plugins that they need.

A package like anybody's: it uses public names of sparkcast only, and sparkcast finds it through entry points (see
`pyproject.toml`). Beside the replications it brings the jobs that papers ran (`workloads`), models and searches that
one paper describes (`models`, `searchers`, `networks`), the grids of settings that the papers searched, and
leave-one-out without refitting.
"""

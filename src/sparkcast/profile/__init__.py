"""Where the time of an application went, and what to change: from an event log to a `Profile`.

from sparkcast.profile import profile_log
"""

from sparkcast.profile.compare import LogComparison, SettingChange, StageChange, compare
from sparkcast.profile.findings import Finding
from sparkcast.profile.profile import Profile, profile_facts, profile_log
from sparkcast.profile.thresholds import Thresholds, with_thresholds

__all__ = [
    "Finding",
    "LogComparison",
    "Profile",
    "SettingChange",
    "StageChange",
    "Thresholds",
    "compare",
    "profile_facts",
    "profile_log",
    "with_thresholds",
]

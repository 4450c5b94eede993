"""Where the time of an application went, and what to change: from an event log to a `Profile`.

from sparkcast.observe.profile import profile_log
"""

from sparkcast.observe.profile.attribution import Attribution, attribute
from sparkcast.observe.profile.compare import Comparison, SettingChange, StageChange, compare
from sparkcast.observe.profile.cores import CoreHours
from sparkcast.observe.profile.findings import Finding
from sparkcast.observe.profile.parts import Part
from sparkcast.observe.profile.profile import Profile, profile_log
from sparkcast.observe.profile.stages import StageProfile
from sparkcast.observe.profile.thresholds import Thresholds, with_thresholds

__all__ = [
    "Attribution",
    "Comparison",
    "CoreHours",
    "Finding",
    "Part",
    "Profile",
    "SettingChange",
    "StageChange",
    "StageProfile",
    "Thresholds",
    "attribute",
    "compare",
    "profile_log",
    "with_thresholds",
]

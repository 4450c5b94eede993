"""Where the time of an application went, and what to change: from an event log to a `Profile`.

from sparkcast.profile import profile_log
"""

from sparkcast.profile.attribution import Attribution, attribute
from sparkcast.profile.compare import Comparison, SettingChange, StageChange, compare
from sparkcast.profile.cores import CoreHours
from sparkcast.profile.findings import Finding
from sparkcast.profile.parts import Part
from sparkcast.profile.profile import Profile, profile_log
from sparkcast.profile.stages import StageProfile
from sparkcast.profile.thresholds import Thresholds, with_thresholds

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

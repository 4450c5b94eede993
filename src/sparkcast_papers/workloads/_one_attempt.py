"""Spark properties of a job whose processes all work from the first step to the last."""

# Add none, replace none, try nothing again: a run that lost a process is no measurement, and Spark's retries would hide
# the first error under later ones.
ONE_ATTEMPT = {
    "spark.dynamicAllocation.enabled": "false",
    "spark.speculation": "false",
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
}

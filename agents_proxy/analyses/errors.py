"""What an analysis can refuse."""

from common.problems import Kind, Problem


class UnknownAnalysis(Problem):
    """There is no such analysis, or it is somebody else's."""

    code, status, title = "unknown_analysis", 404, "There is no such analysis"


# fmt: off
AnalysisEnded = Kind("analysis_ended", 409, "The analysis has ended",
    "The analysis has ended, so there is nothing left to cancel; `status` says how it ended.")
StepNotFailed = Kind("step_not_failed", 409, "This step did not fail",
    "Only a failed step of an analysis that has ended can be tried again.")
StepNotAsking = Kind("step_not_asking", 409, "This agent asks nothing",
    "The agent asks nothing, was answered already, or was waited for long enough.")
AnswerNamesOthers = Kind("subject_mismatch", 403, "Agents are asked about the person who agreed alone",
    "The answer names an address or number that the person who agreed has not verified.")
TooManyAnalyses = Kind("too_many_analyses", 429, "Too many analyses at once",
    "Too many analyses of this person are under way; wait until one ends.")
AnalysisBudgetSpent = Kind("analysis_budget_spent", 429, "No more analyses for now",
    "This person, or this app for all people, asked for as many analyses within an hour as it may. Another try of a "
    "step, and the answer to an agent's question, count as one.")
# fmt: on

"""What an analysis can refuse."""

from common.problems import Problem


class UnknownAnalysis(Problem):
    """There is no such analysis, or it is somebody else's."""

    code, status, title = "unknown_analysis", 404, "There is no such analysis"


class AnalysisEnded(Problem):
    """The analysis has ended, so there is nothing left to cancel; `status` says how it ended."""

    code, status, title = "analysis_ended", 409, "The analysis has ended"


class StepNotFailed(Problem):
    """Only a failed step of an analysis that has ended can be tried again."""

    code, status, title = "step_not_failed", 409, "This step did not fail"


class StepNotAsking(Problem):
    """The agent asks nothing, was answered already, or was waited for long enough."""

    code, status, title = "step_not_asking", 409, "This agent asks nothing"


class AnswerNamesOthers(Problem):
    """The answer names an address or number that the person who agreed has not verified."""

    code, status, title = "subject_mismatch", 403, "Agents are asked about the person who agreed alone"


class TooManyAnalyses(Problem):
    """Too many analyses of this person are under way; wait until one ends."""

    code, status, title = "too_many_analyses", 429, "Too many analyses at once"


class AnalysisBudgetSpent(Problem):
    """This person, or this app for all people, asked for as many analyses within an hour as it may.

    Another try of a step, and the answer to an agent's question, count as one.
    """

    code, status, title = "analysis_budget_spent", 429, "No more analyses for now"

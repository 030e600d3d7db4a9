"""What an analysis can refuse."""

from common.problems import Problem


class UnknownAnalysis(Problem):
    """There is no such analysis, or it is somebody else's."""

    code = "unknown_analysis"
    status = 404
    title = "There is no such analysis"


class AnalysisEnded(Problem):
    """The analysis has ended, so there is nothing left to cancel; `status` says how it ended."""

    code = "analysis_ended"
    status = 409
    title = "The analysis has ended"


class StepNotFailed(Problem):
    """Only a failed step of an analysis that has ended can be tried again."""

    code = "step_not_failed"
    status = 409
    title = "This step did not fail"


class StepNotAsking(Problem):
    """The agent asks nothing, was answered already, or was waited for long enough."""

    code = "step_not_asking"
    status = 409
    title = "This agent asks nothing"


class AnswerNamesOthers(Problem):
    """The answer names an address or number that the person who agreed has not verified."""

    code = "subject_mismatch"
    status = 403
    title = "Agents are asked about the person who agreed alone"


class TooManyAnalyses(Problem):
    """Too many analyses of this person are under way; wait until one ends."""

    code = "too_many_analyses"
    status = 429
    title = "Too many analyses at once"


class AnalysisBudgetSpent(Problem):
    """This person, or this app for all people, asked for as many analyses within an hour as it may.

    Another try of a step, and the answer to an agent's question, count as one.
    """

    code = "analysis_budget_spent"
    status = 429
    title = "No more analyses for now"

"""The prompts that a host offers its person: what may be asked, and asking for one thing."""

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as mcp

_WHO = mcp.PromptArgument(
    name="user_id", description="The person: your `user_id` for them, a sharing ID, or `@handle`.", required=True
)


@dataclass(frozen=True)
class Prompt:
    """One prompt; its `text` names its arguments in braces."""

    name: str
    title: str
    description: str
    arguments: tuple[mcp.PromptArgument, ...]
    text: str

    def definition(self) -> mcp.Prompt:
        return mcp.Prompt(
            name=self.name, title=self.title, description=self.description, arguments=list(self.arguments)
        )

    def filled(self, given: Mapping[str, str]) -> mcp.GetPromptResult | None:
        """None where an argument is missing, unknown or empty."""
        names = {argument.name for argument in self.arguments}
        if set(given) != names or not all(given.values()):
            return None
        text = self.text.format_map({name: value[:300] for name, value in given.items()})
        message = mcp.PromptMessage(role="user", content=mcp.TextContent(type="text", text=text))
        return mcp.GetPromptResult(description=self.description, messages=[message])


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            name="what_may_i_ask",
            title="What may I ask?",
            description="What one person could be asked for, in plain words.",
            arguments=(_WHO,),
            text="Call discover_user_scopes with user_id {user_id} and compact true. Tell me in plain words what this "
            "person could be asked for, and what is sensitive. Ask for nothing.",
        ),
        Prompt(
            name="ask_for_one_thing",
            title="Ask for one thing",
            description="The smallest request that answers one need.",
            arguments=(
                _WHO,
                mcp.PromptArgument(name="need", description="What it is needed for.", required=True),
            ),
            text="I need this: {need}. Call discover_user_scopes with user_id {user_id}, compact true and a fitting "
            "query. Choose the one scope with the fewest attributes that suffice, name only those, and tell me before "
            "you call request_consent. Then show approval_url and wait with check_consent_status. A refusal is final.",
        ),
    )
}

"""Why a model stopped, in the words of each provider, and what that says of its answer."""

from __future__ import annotations

import re
from typing import Literal

from demem_adapters.common.failures import LOG
from demem_adapters.common.recent import Recent

__all__ = ["Ending", "came_to_its_end", "ending_of"]

#: An answer that came to its end; one that goes on with the results of tools or with what else the
#: application gives; one that was cut off, refused or failed; one of which nobody can say.
Ending = Literal["whole", "waits", "cut", "unknown"]

#: In the order of the providers that send them, each once: chat completions and responses of
#: OpenAI's, Together and TGI, Anthropic and Bedrock, Cohere, Google, watsonx, Titan, Ollama, and
#: what frameworks make of them.
_WHOLE = (
    "stop completed eos eos_token end_turn stop_sequence complete finish stop_criteria_met"
    " stop_token stop_str end_of_turn end done finished"
)
_WAITS = (
    "tool_calls function_call tool_use tool_call function_calls tool pause_turn"
    " requires_action interrupt user_input checkpoint"
)
_CUT = (
    "length content_filter incomplete failed cancelled in_progress queued max_tokens refusal"
    " model_context_window_exceeded guardrail_intervened content_filtered malformed_model_output"
    " malformed_tool_use error error_toxic error_limit user_cancel timeout"
    " safety recitation language blocklist prohibited_content spii malformed_function_call"
    " unexpected_tool_call too_many_tool_calls image_safety image_prohibited_content no_image"
    " image_recitation model_armor missing_thought_signature malformed_response"
    " token_limit time_limit not_finished model_length max_length max_output_tokens"
    " insufficient_system_resource abort aborted canceled load unload sensitive moderation blocked"
    " recursion_limit context_length_exceeded limit_output_tokens limit_total_tokens limit_turns"
)
#: What frameworks say of a stream that broke off, and providers of what they do not name.
_UNSAID = frozenset(
    {"unknown", "other", "unspecified", "finish_reason_unspecified", "none", "null"}
)
_TABLE: dict[str, Ending] = {
    **dict.fromkeys(_WHOLE.split(), "whole"),
    **dict.fromkeys(_WAITS.split(), "waits"),
    **dict.fromkeys(_CUT.split(), "cut"),
}
#: A reason that is safe to log is a name, and not long.
_NAME = re.compile(r"[\w.:-]{1,40}")
_WARNED: Recent[str, None] = Recent(100)


def ending_of(reason: object, *, unsaid: Ending = "unknown") -> Ending:
    """Return what a provider's reason to stop says of the answer.

    Args:
        reason: as it was sent, in any case: a text, or a member of an enumeration.
        unsaid: what it means that there is none, or one that says nothing ("unknown", "OTHER"):
            "cut" of a stream, which ends so where it breaks off, "whole" of a model that never
            gives one, such as one of the user's own.
    """
    name = _name(reason)
    if not name or name in _UNSAID:
        return unsaid
    return _TABLE.get(name, "unknown")


def came_to_its_end(reason: object, *, unsaid: Ending = "unknown", waits: bool = False) -> bool:
    """Whether an answer that has text is to be remembered: it is whole, or nobody can say.

    The latter is warned of, once for each reason, by its name.

    Args:
        unsaid: as in :func:`ending_of`.
        waits: whether it is also one where the model has called tools, as those that give an
            output.
    """
    ending = ending_of(reason, unsaid=unsaid)
    if ending == "unknown":
        _warn(_name(reason))
    return ending in ("whole", "unknown") or (waits and ending == "waits")


def _name(reason: object) -> str:
    """Return a reason as the table has it."""
    said = getattr(reason, "value", reason)
    if not isinstance(said, str):
        said = getattr(reason, "name", "")
    plain = str(said).rpartition(".")[2].strip().lower()
    return plain.replace("-", "_").replace(" ", "_")


def _warn(name: str) -> None:
    kind = name if _NAME.fullmatch(name) else ""
    if kind in _WARNED:
        return
    _WARNED[kind] = None
    LOG.warning(
        "an answer was remembered although its reason to end is not known: %s", kind or "none given"
    )

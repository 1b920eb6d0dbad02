"""What a reply of Gemini's tells, or a piece of its stream."""

from __future__ import annotations

from google.genai import types

from demem_adapters.common.calls import Piece
from demem_adapters.google_genai.contents import text_parts

__all__ = ["heard_of"]


def heard_of(piece: types.GenerateContentResponse) -> Piece:
    """Read a reply, or a piece of its stream; of several candidates the first."""
    if not piece.candidates:
        # None for a prompt that was blocked: it has no answer.
        return Piece(piece.response_id)
    candidate = piece.candidates[0]
    parts = (candidate.content and candidate.content.parts) or ()
    calls = tuple(part.function_call.id or "" for part in parts if part.function_call)
    finish = candidate.finish_reason
    return Piece(
        piece.response_id,
        "".join(text_parts(parts)),
        calls=calls,
        finish=finish.value if finish else None,
    )

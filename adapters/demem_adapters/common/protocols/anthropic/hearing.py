"""What a reply over Anthropic's Messages API tells, or an event of its stream."""

from __future__ import annotations

from typing import Any

from demem_adapters.common.calls import Piece

__all__ = ["heard_of"]

#: A call of a tool that waits for the application; Anthropic carries out others itself.
_CALL = "tool_use"


def heard_of(piece: Any) -> Piece:
    """Read a message, or an event of the stream of one."""
    kind = getattr(piece, "type", None)
    if kind == "message":
        return _of_message(piece)
    if kind == "message_start":
        return Piece(id=piece.message.id)
    if kind == "content_block_start":
        return _of_part(piece.content_block)
    if kind == "content_block_delta":
        return Piece(text=getattr(piece.delta, "text", None) or "")
    if kind == "message_delta":
        return Piece(finish=piece.delta.stop_reason)
    return Piece()


def _of_message(message: Any) -> Piece:
    said: list[str] = [""]
    calls: list[str] = []
    for part in message.content or ():
        heard = _of_part(part)
        if heard.apart and said[-1]:
            said.append("")
        said[-1] += heard.text
        calls += heard.calls
    text = "\n".join(said)
    return Piece(message.id, text, calls=tuple(calls), finish=message.stop_reason)


def _of_part(part: Any) -> Piece:
    """Read a part; texts next to each other are one, which citations cut."""
    if part.type == "text":
        return Piece(text=part.text)
    return Piece(apart=True, calls=(part.id,) if part.type == _CALL else ())

"""The streamed model APIs of codex (Responses), opencode (chat completions) and gemini.

A dialect counts the tool results in a request and answers with the next scripted call, or a closing text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

CLOSING = "The scripted model has nothing more to do."


@dataclass(frozen=True)
class ToolCall:
    """One call. `freeform`: the tool takes a text (`input["text"]`) instead of arguments."""

    name: str
    input: dict[str, Any]
    freeform: bool = False


class Dialect(Protocol):
    def lines(self, body: dict[str, Any], calls: Sequence[ToolCall]) -> list[str]:
        """The server-sent events that answer `body`, each without its blank line."""
        ...


def dialect_of(path: str) -> Dialect | None:
    """The dialect that a request's path belongs to."""
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return ChatCompletions()
    return Gemini() if path.endswith("enerateContent") else None


def _next(body: dict[str, Any], done: int, calls: Sequence[ToolCall]) -> ToolCall | None:
    return calls[done] if body.get("tools") and done < len(calls) else None


class Responses:
    """OpenAI Responses."""

    def lines(self, body: dict[str, Any], calls: Sequence[ToolCall]) -> list[str]:
        items = [item for item in body.get("input") or [] if isinstance(item, dict)]
        done = sum(str(item.get("type", "")).endswith("call_output") for item in items)
        item = self._item(_next(body, done, calls), done)
        response: dict[str, Any] = {
            "id": f"resp_{done}",
            "object": "response",
            "model": body.get("model"),
            "output": [],
        }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        whole = {**response, "status": "completed", "output": [item], "usage": usage}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return [f"event: {event['type']}\r\ndata: {json.dumps(event)}" for event in events]

    @staticmethod
    def _item(call: ToolCall | None, number: int) -> dict[str, Any]:
        if call is None:
            text = {"type": "output_text", "text": CLOSING, "annotations": []}
            return {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        named = {
            "id": f"item_{number}",
            "call_id": f"call_{number}",
            "name": call.name,
            "status": "completed",
        }
        if call.freeform:
            return {"type": "custom_tool_call", **named, "input": call.input["text"]}
        return {"type": "function_call", **named, "arguments": json.dumps(call.input)}


class ChatCompletions:
    """OpenAI chat completions."""

    def lines(self, body: dict[str, Any], calls: Sequence[ToolCall]) -> list[str]:
        done = sum(message.get("role") == "tool" for message in body["messages"])
        call = _next(body, done, calls)
        base = {
            "id": f"chat_{done}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body.get("model"),
        }
        delta: dict[str, Any] = {"role": "assistant", "content": CLOSING}
        if call is not None:
            function = {"name": call.name, "arguments": json.dumps(call.input)}
            wanted = {"index": 0, "id": f"call_{done}", "type": "function", "function": function}
            delta = {"role": "assistant", "content": None, "tool_calls": [wanted]}
        reason = "stop" if call is None else "tool_calls"
        chunks = [
            {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]
        return [*(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"]


class Gemini:
    """Google's generateContent, streamed."""

    def lines(self, body: dict[str, Any], calls: Sequence[ToolCall]) -> list[str]:
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        done = sum("functionResponse" in part for part in parts)
        call = _next(body, done, calls)
        part: dict[str, Any] = {"text": CLOSING}
        if call is not None:
            part = {"functionCall": {"name": call.name, "args": call.input, "id": f"call_{done}"}}
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        return [f"data: {json.dumps(answer)}"]

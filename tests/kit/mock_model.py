"""A model API on loopback for real agents: one scripted tool call per turn, then a closing text.

It speaks the Anthropic Messages API here, plain and streamed (server-sent events), and the APIs of other
agents in `model_dialects`. What the agent sends is kept in `seen`, so that a test can read what it learned.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.kit.model_dialects import CLOSING, ToolCall, dialect_of

__all__ = ["CLOSING", "MockModel", "ToolCall", "mock_model"]

USAGE = {"input_tokens": 1, "output_tokens": 1}


@dataclass
class MockModel:
    """`url` is the base URL; `seen` holds every body of a messages request."""

    calls: Sequence[ToolCall]
    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)

    def reported(self) -> str:
        """Everything that any agent sent, as one text."""
        return json.dumps(self.seen, ensure_ascii=False)

    def tool_results(self) -> list[str]:
        """What the agent reported for each tool call, as text, from the longest Messages API talk."""
        longest: list[dict[str, Any]] = max((body["messages"] for body in self.seen), key=len, default=[])
        return [_text(part.get("content")) for part in _parts(longest) if part.get("type") == "tool_result"]

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        done = sum(part.get("type") == "tool_result" for part in _parts(body["messages"]))
        call = self.calls[done] if body.get("tools") and done < len(self.calls) else None
        content = (
            {"type": "text", "text": CLOSING}
            if call is None
            else {"type": "tool_use", "id": f"toolu_{done:04d}", "name": call.name, "input": call.input}
        )
        return {
            "id": f"msg_{len(self.seen):04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [content],
            "stop_reason": "end_turn" if call is None else "tool_use",
            "stop_sequence": None,
            "usage": USAGE,
        }


@contextmanager
def mock_model(calls: Sequence[ToolCall]) -> Iterator[MockModel]:
    """Serve on a random loopback port within the block."""
    model = MockModel(calls)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._json({"data": []})

        do_HEAD = do_GET

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self._json({"input_tokens": 1})
            elif path.endswith("/messages"):
                body = json.loads(raw)
                model.seen.append(body)
                message = model.answer(body)
                self._stream(message) if body.get("stream") else self._json(message)
            elif (dialect := dialect_of(path)) is not None:
                body = json.loads(raw)
                model.seen.append(body)
                self._lines(dialect.lines(body, model.calls))
            else:
                self._json({})

        def _json(self, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _lines(self, lines: list[str]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write("".join(f"{line}\r\n\r\n" for line in lines).encode())

        def _stream(self, message: dict[str, Any]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for event in _events(message):
                data = json.dumps(event)
                self.wfile.write(f"event: {event['type']}\ndata: {data}\n\n".encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, name="mock model", daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One message in the order of the streaming API."""
    (block,) = message["content"]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": USAGE,
    }
    yield {"type": "message_stop"}


def _parts(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if isinstance(message.get("content"), list):
            yield from (part for part in message["content"] if isinstance(part, dict))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))

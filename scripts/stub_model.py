#!/usr/bin/env python3
"""A model that only counts: a stub of the Messages API on loopback.

    stub_model.py --port-file FILE --log FILE

It binds a free port of 127.0.0.1, writes its number to the port file, and
answers until it is ended. The answer says how many things the person has said
in this conversation and repeats the last one, so that whoever reads the screen
sees which conversation went on.

Every request for an answer becomes one line of JSON in the log: the session id
that the client sent in its header, and every text of the user's messages.
"""

import argparse
import http.server
import itertools
import json
import os
import threading

SESSION = "X-Claude-Code-Session-Id"


def user_texts(request):
    """The texts of the user's messages, in order."""
    for message in request.get("messages", []):
        if message.get("role") == "user":
            content = message.get("content", "")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            yield from (block["text"] for block in blocks if block.get("type") == "text")


def answer_to(texts):
    # A client adds remarks of its own, each in a tag.
    said = [text.strip() for text in texts if not text.lstrip().startswith("<")]
    return f"heard {len(said)}: {said[-1][:60]}" if said else "heard nothing"


def stream_of(message):
    """The events that build up a message with one text."""
    text = message["content"][0]["text"]
    begun = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "text_delta", "text": text}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


class Stub(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, log):
        super().__init__(("127.0.0.1", 0), Handler)
        self.log_path = log
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)

    def note(self, entry):
        with self.lock, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self.reply({"input_tokens": 1})
        elif path == "/v1/messages":
            self.message(request)
        else:
            self.missing()

    def do_GET(self):
        self.missing()

    def do_HEAD(self):
        self.missing()

    def message(self, request):
        texts = list(user_texts(request))
        self.server.note({"session": self.headers.get(SESSION), "users": texts})
        message = {
            "id": f"msg_{next(self.server.numbers):08}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": [{"type": "text", "text": answer_to(texts)}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not request.get("stream"):
            self.reply(message)
            return
        events = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in stream_of(message))
        self.reply_with("text/event-stream", "".join(events).encode())

    def missing(self):
        error = {"type": "not_found_error", "message": "the stub has no such thing"}
        self.reply({"type": "error", "error": error}, 404)

    def reply(self, value, status=200):
        self.reply_with("application/json", json.dumps(value).encode(), status)

    def reply_with(self, kind, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """The log has what counts."""


def main():
    parser = argparse.ArgumentParser(description="a stub of the Messages API on loopback")
    parser.add_argument("--port-file", required=True, help="where its port is written to")
    parser.add_argument("--log", required=True, help="where requests are noted")
    options = parser.parse_args()
    with Stub(options.log) as stub:
        with open(options.port_file + ".new", "w", encoding="utf-8") as file:
            file.write(str(stub.server_address[1]))
        os.rename(options.port_file + ".new", options.port_file)
        stub.serve_forever()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A model that only counts, on loopback: a stub of the Messages, Responses and
Chat Completions APIs.

    stub_model.py --port-file FILE --log FILE

It binds a free port of 127.0.0.1, writes its number to the port file, and
answers until it is ended. The answer says how many things the person has said
in this conversation and repeats the last one, so that whoever reads the screen
sees which conversation went on. A text that holds SLOW is answered with a first
word, and with the rest only after a minute: a turn that can be killed. A text
`RUN COMMAND` is answered with a call of the client's shell tool, asking for more
rights where that tool can, so that the client asks its person.

Every request for an answer becomes one line of JSON in the log: the session id
that the client sent in its header, and every text of the user's messages.
"""

import argparse
import http.server
import itertools
import json
import os
import re
import threading
import time

SESSIONS = ("X-Claude-Code-Session-Id", "thread-id", "X-Session-Id", "X-Grok-Session-Id")
SLOW_SECONDS = 60

# The names of shell tools, in small letters.
SHELLS = ("bash", "exec_command", "local_shell", "run_terminal_cmd", "run_terminal_command",
          "shell", "shell_command")


def user_texts(request):
    """The texts of the user's messages, in order."""
    messages = request.get("messages") or request.get("input") or []
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    for message in messages:
        if message.get("role") == "user":
            content = message.get("content", "")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            yield from (b["text"] for b in blocks if b.get("type") in ("text", "input_text"))


def said_in(texts):
    """What the person said: a client adds remarks of its own, each in a tag."""
    said = []
    for text in texts:
        query = re.search(r"<user_query>(.*?)</user_query>", text, re.S)
        if query or not text.lstrip().startswith("<"):
            said.append((query.group(1) if query else text).strip())
    return said


def answer_to(said):
    return f"heard {len(said)}: {said[-1][:60]}" if said else "heard nothing"


def call_of(request, said):
    """The name of the shell tool and its arguments, where it is to be called."""
    wanted = re.search(r"\bRUN (.+)", said[-1]) if said else None
    last = (request.get("messages") or request.get("input") or [{}])[-1]
    content = last.get("content")
    blocks = content if isinstance(content, list) else []
    kinds = [last.get("type") or "", *(block.get("type", "") for block in blocks)]
    returned = last.get("role") == "tool" or any(
        kind == "tool_result" or kind.endswith("_output") for kind in kinds)
    if not wanted or returned:
        return None
    for tool in request.get("tools") or []:
        tool = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        if (tool.get("name") or "").lower() in SHELLS:
            schema = tool.get("input_schema") or tool.get("parameters") or {}
            return tool["name"], arguments(schema.get("properties") or {}, wanted.group(1))
    return None


def arguments(known, command):
    """What such a tool is given, of what it takes."""
    array = known.get("command", {}).get("type") == "array"
    given = {"command": ["bash", "-c", command] if array else command, "cmd": command,
             "description": "what the person asked for", "justification": "it was asked for",
             "sandbox_permissions": "require_escalated"}
    return {name: value for name, value in given.items() if name in known}


def stream_of(message, parts):
    """The events of the Messages API that build up a message with one block."""
    begun = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    block = message["content"][0]
    if block["type"] == "text":
        empty, deltas = {"text": ""}, ({"type": "text_delta", "text": part} for part in parts)
    else:
        given = json.dumps(block["input"])
        empty, deltas = {"input": {}}, [{"type": "input_json_delta", "partial_json": given}]
    yield {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def responses_of(done, parts):
    """The events of the Responses API."""
    item = done["output"][0]
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}}
    if item["type"] == "function_call":
        begun = {**item, "status": "in_progress", "arguments": ""}
        place = {"item_id": item["id"], "output_index": 0}
        given = item["arguments"]
        yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
        yield {"type": "response.function_call_arguments.delta", **place, "delta": given}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": given}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": done}
        return
    begun = {**item, "status": "in_progress", "content": []}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.content_part.added", **place, "part": empty}
    for part in parts:
        yield {"type": "response.output_text.delta", **place, "delta": part}
    whole = item["content"][0]
    yield {"type": "response.output_text.done", **place, "text": whole["text"]}
    yield {"type": "response.content_part.done", **place, "part": whole}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": done}


def chunks_of(base, parts, calls):
    """The events of the Chat Completions API."""
    def chunk(delta, reason=None, **more):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**base, "object": "chat.completion.chunk", "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": ""})
    if calls:
        yield chunk({"tool_calls": [{"index": 0, **calls[0]}]})
    else:
        for part in parts:
            yield chunk({"content": part})
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield chunk({}, "tool_calls" if calls else "stop", usage=usage)


def parts_of(said):
    """An answer in parts, the second of which may take its time."""
    text = answer_to(said)
    if said and "SLOW" in said[-1]:
        yield "begun, "
        time.sleep(SLOW_SECONDS)
    yield text


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
        request = json.loads(self.body() or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/messages/count_tokens"):
            self.reply({"input_tokens": 1})
            return
        ways = {"messages": self.message, "responses": self.response, "completions": self.chat}
        way = ways.get(path.rpartition("/")[2])
        if way is None:
            self.missing()
            return
        texts = list(user_texts(request))
        said = said_in(texts)
        names = (self.headers.get(name) for name in SESSIONS)
        session = next((name for name in names if name), None)
        self.server.note({"session": session, "users": texts, "said": said})
        try:
            way(request, said, f"{next(self.server.numbers):08}")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def do_GET(self):
        if self.path.partition("?")[0].endswith("/models"):
            model = {"id": "stub-model", "object": "model", "type": "model", "created": 0}
            model.update(display_name="stub-model", owned_by="stub")
            self.reply({"object": "list", "data": [model]})
        else:
            self.missing()

    def do_HEAD(self):
        self.missing()

    def message(self, request, said, number):
        call = call_of(request, said)
        block = {"type": "text", "text": answer_to(said)}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]}
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": [block],
            "stop_reason": "tool_use" if call else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        self.answer(request, message, stream_of(message, parts_of(said)))

    def response(self, request, said, number):
        content = {"type": "output_text", "text": answer_to(said), "annotations": []}
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        item.update(status="completed", content=[content])
        if call := call_of(request, said):
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
            item.update(name=call[0], arguments=json.dumps(call[1]), status="completed")
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}}
        usage.update(output_tokens=1, output_tokens_details={"reasoning_tokens": 0}, total_tokens=2)
        done = {"id": f"resp_{number}", "object": "response", "created_at": int(time.time())}
        done.update(model=request.get("model"), status="completed", output=[item], usage=usage)
        done.update(parallel_tool_calls=False, tool_choice="auto", tools=[])
        events = enumerate(responses_of(done, parts_of(said)))
        self.answer(request, done, ({**e, "sequence_number": at} for at, e in events))

    def chat(self, request, said, number):
        base = {"id": f"chatcmpl-{number}", "created": int(time.time())}
        base.update(model=request.get("model"), system_fingerprint=None)
        message, calls = {"role": "assistant", "content": answer_to(said)}, []
        if call := call_of(request, said):
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            calls = [{"id": f"call_{number}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        reason = "tool_calls" if calls else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {**base, "object": "chat.completion", "choices": [choice]}
        whole["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.answer(request, whole, chunks_of(base, parts_of(said), calls), end="data: [DONE]\n\n")

    def answer(self, request, whole, events, end=""):
        if not request.get("stream"):
            self.reply(whole)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(end.encode())

    def missing(self):
        error = {"type": "not_found_error", "message": "the stub has no such thing"}
        self.reply({"type": "error", "error": error}, 404)

    def reply(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """The log has what counts."""


def main():
    parser = argparse.ArgumentParser(description="a stub of model APIs on loopback")
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

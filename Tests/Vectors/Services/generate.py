"""Writes requests.json from docs/spec/services.md, without any code of the package.

    python3 Tests/Vectors/Services/generate.py > Tests/Vectors/Services/requests.json
"""

import json


def varint(number):
    for size, tag in ((1, 0), (2, 1), (4, 2), (8, 3)):
        if number < 1 << (8 * size - 2):
            return (number | tag << (8 * size - 2)).to_bytes(size, "big")
    raise ValueError(number)


def text(words):
    encoded = words.encode()
    return varint(len(encoded)) + encoded


def request(path, content=0, flags=0, limit=30_000, metadata=()):
    lines = b"".join(text(name) + text(value) for name, value in metadata)
    return bytes([flags, content]) + varint(limit) + text(path) + bytes([len(metadata)]) + lines


def failure(kind, code, message, context):
    return bytes([kind]) + (code & 0xFFFFFFFF).to_bytes(4, "big") + text(message) + text(context)


def service(name, version, flags, actions):
    body = b"".join(text(path) + bytes([flag]) for path, flag in actions)
    return text(name) + text(version) + bytes([flags]) + len(actions).to_bytes(2, "big") + body


def announcement(version, services):
    return version.to_bytes(8, "big") + len(services).to_bytes(2, "big") + b"".join(services)


TRACE = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

REQUESTS = [
    dict(path="math/add"),
    dict(path="$registry/services/list", content=4, flags=1, limit=1),
    dict(path="küche/herd/an", content=1, flags=2, limit=86_400_000, metadata=[TRACE, ("baggage", "")]),
    dict(path="users/users/7", content=3, flags=3, limit=16_384, metadata=[("n", "v")] * 16),
]
FAILURES = [
    (1, 0, "nobody", "math"),
    (9, -7, "zu kalt", "Ofen"),
    (11, 2**31 - 1, "", ""),
    (4, -(2**31), "x" * 4096, "y" * 1024),
]
SERVICES = [
    service("math", "1.0.0", 1, [("add", 1), ("sub", 0)]),
    service("users", "", 0, [("users/{id}", 2), ("list", 3), (">", 0)]),
]
MATH = service("math", "", 1, [("add", 0)])


def hexed(**entries):
    return {name: bytes(value).hex() for name, value in entries.items()}


def named(entries):
    return [{"name": name, "bytes": bytes(value).hex()} for name, value in entries]


print(
    json.dumps(
        {
            "requests": [
                {
                    "path": given["path"],
                    "contentType": given.get("content", 0),
                    "isIdempotent": bool(given.get("flags", 0) & 1),
                    "streamsBody": bool(given.get("flags", 0) & 2),
                    "milliseconds": given.get("limit", 30_000),
                    "metadata": [list(line) for line in given.get("metadata", [])],
                    "bytes": request(**given).hex(),
                }
                for given in REQUESTS
            ],
            "failures": [
                {"kind": kind, "code": code, "message": message, "context": context, "bytes": failure(kind, code, message, context).hex()}
                for kind, code, message, context in FAILURES
            ],
            "responses": hexed(ok=[0, 1], okStreaming=[1, 3], failed=bytes([2, 0]) + failure(6, 3, "m", "c")),
            "items": hexed(item=varint(3 << 1) + b"abc", empty=varint(0), failure=varint(len(failure(9, 1, "m", "")) << 1 | 1) + failure(9, 1, "m", "")),
            "announcement": announcement(7, SERVICES).hex(),
            "recordKey": (bytes([len("runar/service-provider/v1")]) + b"runar/service-provider/v1" + b"math").hex(),
            "refusedRequests": named(
                [
                    ("nothing", b""),
                    ("an unknown content type", request("a/b", content=5)),
                    ("the reserved content type", request("a/b", content=2)),
                    ("no time", request("a/b", limit=0)),
                    ("more than a day", request("a/b", limit=86_400_001)),
                    ("an empty path", request("")),
                    ("a pattern", request("a/*")),
                    ("a parameter", request("a/{b}")),
                    ("a network", request("home:a/b")),
                    ("a slash in front", request("/a/b")),
                    ("an empty segment", request("a//b")),
                    ("a slash at the end", request("a/b/")),
                    ("a control character", request("a/\x07")),
                    ("a path that is too long", request("a/" + "b" * 511)),
                    ("too many segments", request("/".join("a" * 33))),
                    ("17 lines of metadata", request("a/b", metadata=[("n", "v")] * 17)),
                    ("a line without a name", request("a/b", metadata=[("", "v")])),
                    ("a name that is too long", request("a/b", metadata=[("n" * 65, "v")])),
                    ("a value that is too long", request("a/b", metadata=[("n", "v" * 1025)])),
                    ("a byte too many", request("a/b") + b"\0"),
                    ("a byte too few", request("a/b")[:-1]),
                    ("no UTF-8", bytes([0, 0]) + varint(5) + bytes([2, 0x61, 0xFF, 0])),
                ]
            ),
            "refusedFailures": named(
                [
                    ("the kind 0", failure(0, 0, "", "")),
                    ("a message that is too long", failure(9, 0, "m" * 4097, "")),
                    ("a context that is too long", failure(9, 0, "", "c" * 1025)),
                    ("a byte too many", failure(9, 0, "", "") + b"\0"),
                ]
            ),
            "refusedResponses": named(
                [
                    ("an unknown status", bytes([3, 0])),
                    ("an unknown content type", bytes([0, 9])),
                    ("the reserved content type", bytes([0, 2])),
                    ("a failure behind a success", bytes([0, 0]) + failure(9, 0, "", "")),
                    ("no failure", bytes([2, 0])),
                ]
            ),
            "refusedAnnouncements": named(
                [
                    ("a service named twice", announcement(1, [MATH, MATH])),
                    ("a service of two segments", announcement(1, [service("a/b", "", 1, [])])),
                    ("a service without a name", announcement(1, [service("", "", 1, [])])),
                    ("an action without a path", announcement(1, [service("a", "", 1, [("", 0)])])),
                    ("an action of another network", announcement(1, [service("a", "", 1, [("b:c", 0)])])),
                    ("a version that is too long", announcement(1, [service("a", "1" * 65, 1, [])])),
                    ("257 actions", announcement(1, [service("a", "", 1, [(f"b{n}", 0) for n in range(257)])])),
                    ("257 services", announcement(1, [service(f"a{n}", "", 1, []) for n in range(257)])),
                    ("fewer services than it says", announcement(1, [MATH])[:-1]),
                    ("a byte too many", announcement(1, [MATH]) + b"\0"),
                ]
            ),
        },
        indent=2,
        ensure_ascii=False,
    )
)

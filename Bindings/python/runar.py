"""Private networks of your own devices, from Python: a thin layer over librunar (see runar.h).

    import runar

    with runar.Node(home="notes-home") as node:
        node.start()
        print(node.request("math/add", {"a": 1, "b": 2}))

Values travel as JSON. Calls wait for their end; those that end in `_soon` return a concurrent.futures.Future instead,
which asyncio.wrap_future() makes awaitable. Handlers of actions run on threads of their own, several at a time; those of a
subscription one after the other.

The library is the file that RUNAR_LIBRARY in the environment names, or librunar next to this file or in runar.libs
there, as in a wheel, or the system's.
"""

import atexit
import collections
import concurrent.futures
import ctypes
import ctypes.util
import json
import os
import queue
import sys
import threading

__all__ = [
    "Circle", "CircleEvent", "Error", "Event", "Node", "Request", "Service", "Subscription", "open_sealed", "seal",
]

JSON, CBOR, BYTES = 1, 3, 4
HANDLER_FAILED = 4006
ABI_VERSION = 4
EVENTS_WAITING = 1024


# What runar.h declares.

class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char_p), ("context", ctypes.c_char_p)]


class _Result(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.POINTER(_Error))]


class _Event(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("topic", ctypes.c_char_p), ("data", ctypes.c_void_p), ("length", ctypes.c_size_t),
        ("publisher", ctypes.c_char_p), ("network_id", ctypes.c_char_p), ("published_at", ctypes.c_int64),
        ("number", ctypes.c_uint64), ("dropped_before", ctypes.c_uint64), ("missed_before", ctypes.c_uint64),
    ]


class _RequestInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("path", ctypes.c_char_p), ("parameters", ctypes.c_char_p),
        ("network_id", ctypes.c_char_p), ("peer_id", ctypes.c_char_p), ("payload", ctypes.c_void_p),
        ("payload_length", ctypes.c_size_t), ("encoding", ctypes.c_int32), ("time_left_ms", ctypes.c_int64),
    ]


_PassphraseCallback = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _NodeConfig(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("node_id", ctypes.c_char_p), ("default_network_id", ctypes.c_char_p),
        ("home", ctypes.c_char_p), ("in_memory", ctypes.c_bool), ("listen_addresses", ctypes.c_char_p),
        ("network_ids", ctypes.c_char_p), ("request_timeout_ms", ctypes.c_uint64), ("log_level", ctypes.c_int32),
        ("disable_discovery", ctypes.c_bool), ("max_peers", ctypes.c_uint32),
        ("key_file", ctypes.c_char_p), ("passphrase", _PassphraseCallback), ("passphrase_context", ctypes.c_void_p),
    ]


class _RequestOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("timeout_ms", ctypes.c_uint64), ("is_idempotent", ctypes.c_bool),
        ("peer_id", ctypes.c_char_p), ("encoding", ctypes.c_int32),
    ]


class _SealOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("tag_bits", ctypes.c_uint32), ("hash_binding", ctypes.c_bool),
        ("signing_key", ctypes.c_char_p),
    ]


class _CircleEvent(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("kind", ctypes.c_int32), ("person_id", ctypes.c_char_p),
        ("change", ctypes.c_char_p), ("json", ctypes.c_char_p),
    ]


_Handle = _Context = ctypes.c_void_p
_Text = ctypes.c_char_p
_ErrorPlace = ctypes.POINTER(ctypes.POINTER(_Error))
_Callback = ctypes.CFUNCTYPE(None, _Context, _Text, ctypes.POINTER(_Error))
_DataCallback = ctypes.CFUNCTYPE(None, _Context, ctypes.POINTER(_Result))
_EventCallback = ctypes.CFUNCTYPE(None, _Context, ctypes.POINTER(_Event))
_CircleCallback = ctypes.CFUNCTYPE(None, _Context, ctypes.POINTER(_CircleEvent))
_ActionCallback = ctypes.CFUNCTYPE(None, _Context, _Handle, ctypes.POINTER(_RequestInfo))

# Texts that the library returns are pointers, so that they can be freed.
_PROTOTYPES = {
    "runar_abi_version": (ctypes.c_uint32, []),
    "runar_error_free": (None, [ctypes.POINTER(_Error)]),
    "runar_string_free": (None, [ctypes.c_void_p]),
    "runar_data_result_free": (None, [ctypes.POINTER(_Result)]),
    "runar_node_create": (_Handle, [ctypes.POINTER(_NodeConfig), _ErrorPlace]),
    "runar_node_free": (None, [_Handle]),
    "runar_node_start": (None, [_Handle, _Callback, _Context]),
    "runar_node_stop": (None, [_Handle, _Callback, _Context]),
    "runar_node_peer_id": (ctypes.c_void_p, [_Handle, _ErrorPlace]),
    "runar_node_get_info": (None, [_Handle, _Callback, _Context]),
    "runar_node_get_known_peers": (None, [_Handle, _Callback, _Context]),
    "runar_node_create_network": (ctypes.c_void_p, [_Handle, _Text, _ErrorPlace]),
    "runar_node_issue_token": (ctypes.c_void_p, [_Handle, _Text, _Text, ctypes.c_uint64, _ErrorPlace]),
    "runar_node_join_network": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_connect": (None, [_Handle, _Text, _Text, _Text, _Callback, _Context]),
    "runar_node_listening_port": (ctypes.c_uint16, [_Handle]),
    "runar_node_request_raw": (
        ctypes.c_uint64,
        [_Handle, _Text, _Text, ctypes.c_size_t, ctypes.POINTER(_RequestOptions), _DataCallback, _Context],
    ),
    "runar_node_cancel_request": (ctypes.c_bool, [_Handle, ctypes.c_uint64]),
    "runar_node_publish": (None, [_Handle, _Text, _Text, ctypes.c_size_t, _Callback, _Context]),
    "runar_node_subscribe": (ctypes.c_void_p, [_Handle, _Text, ctypes.c_bool, _EventCallback, _Context, _ErrorPlace]),
    "runar_node_unsubscribe": (ctypes.c_bool, [_Handle, _Text]),
    "runar_service_create": (_Handle, [_Text, _Text, _Text, _Text, _ErrorPlace]),
    "runar_service_free": (None, [_Handle]),
    "runar_service_set_network": (ctypes.c_bool, [_Handle, _Text, _ErrorPlace]),
    "runar_service_register_action": (ctypes.c_bool, [_Handle, _Text, _ActionCallback, _Context, _ErrorPlace]),
    "runar_service_register_event": (ctypes.c_bool, [_Handle, _Text, _EventCallback, _Context, _ErrorPlace]),
    "runar_node_add_service": (None, [_Handle, _Handle, _Callback, _Context]),
    "runar_node_remove_service": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_request_respond": (ctypes.c_bool, [_Handle, _Text, ctypes.c_size_t, _ErrorPlace]),
    "runar_request_fail": (ctypes.c_bool, [_Handle, ctypes.c_int32, _Text, _Text, _ErrorPlace]),
    "runar_request_is_cancelled": (ctypes.c_bool, [_Handle]),
    "runar_nanotdf_seal": (
        ctypes.POINTER(_Result), [_Text, _Text, ctypes.c_size_t, ctypes.POINTER(_SealOptions)],
    ),
    "runar_nanotdf_open": (ctypes.POINTER(_Result), [_Text, _Text, _Text, ctypes.c_size_t]),
    "runar_node_exchange_keys": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_get_key_relationships": (None, [_Handle, _Callback, _Context]),
    "runar_node_verify_keys": (None, [_Handle, _Text, _Text, _Callback, _Context]),
    "runar_node_remove_keys": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_seal": (None, [_Handle, _Text, _Text, ctypes.c_size_t, _DataCallback, _Context]),
    "runar_node_open": (None, [_Handle, _Text, _Text, ctypes.c_size_t, _DataCallback, _Context]),
    "runar_node_open_circle": (None, [_Handle, _Callback, _Context]),
    "runar_node_set_profile": (None, [_Handle, _Text, _Text, _Callback, _Context]),
    "runar_node_get_card": (None, [_Handle, _Callback, _Context]),
    "runar_node_get_people": (None, [_Handle, _Callback, _Context]),
    "runar_node_invite_device": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_invite_card": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_accept_person": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_decline_person": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_verify_person": (None, [_Handle, _Text, _Text, _Callback, _Context]),
    "runar_node_revoke_trust": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_say": (None, [_Handle, _Text, _Text, _Callback, _Context]),
    "runar_node_send_thought": (
        None, [_Handle, _Text, _Text, _Text, ctypes.c_size_t, _Text, _Text, _Callback, _Context],
    ),
    "runar_node_get_thoughts": (None, [_Handle, _Text, ctypes.c_uint64, ctypes.c_uint32, _Callback, _Context]),
    "runar_node_get_thought_content": (None, [_Handle, _Text, _DataCallback, _Context]),
    "runar_node_note_opened": (None, [_Handle, _Text, _Callback, _Context]),
    "runar_node_subscribe_circle": (ctypes.c_void_p, [_Handle, _CircleCallback, _Context, _ErrorPlace]),
    "runar_node_handle_memory_warning": (None, [_Handle]),
    "runar_node_optimize_memory_usage": (None, [_Handle]),
    "runar_node_reduce_operations": (None, [_Handle]),
    "runar_node_resume_operations": (None, [_Handle]),
    "runar_node_network_available": (None, [_Handle]),
    "runar_node_network_unavailable": (None, [_Handle]),
}


def _load():
    name = "librunar.dylib" if sys.platform == "darwin" else "librunar.so"
    folder = os.path.dirname(os.path.abspath(__file__))
    near = filter(os.path.exists, [os.path.join(folder, name), os.path.join(folder, "runar.libs", name)])
    found = os.environ.get("RUNAR_LIBRARY") or next(near, None) or ctypes.util.find_library("runar")
    if not found:
        raise ImportError(
            "librunar was not found: install its package, or run make library and set RUNAR_LIBRARY to the file that it names"
        )
    library = ctypes.CDLL(found)
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.runar_abi_version() < ABI_VERSION:
        raise ImportError(f"{found} is older than this module")
    return library


_library = _load()


class Error(Exception):
    """Why something failed: a code to decide by (see runar.h), a message to read, and what it was about."""

    def __init__(self, code, message, context=""):
        super().__init__(f"{message} [{context}] ({code})" if context else f"{message} ({code})")
        self.code, self.message, self.context = code, message, context

    @classmethod
    def _of(cls, error):
        return cls(error.contents.code, error.contents.message.decode(), error.contents.context.decode())


def _text(value):
    return None if value is None else str(value).encode()


def _now(function, *arguments):
    """Calls a function whose last argument is a place for an error."""
    place = ctypes.POINTER(_Error)()
    result = function(*arguments, ctypes.byref(place))
    if place:
        error = Error._of(place)
        _library.runar_error_free(place)
        raise error
    return result


def _owned(pointer):
    text = ctypes.string_at(pointer).decode()
    _library.runar_string_free(pointer)
    return text


# Calls under way, by the number that is their context: one callback serves them all and is never collected.
_pending = {}
_numbers = iter(range(1, sys.maxsize))
_lock = threading.Lock()


def _begin():
    future = concurrent.futures.Future()
    future.set_running_or_notify_cancel()
    with _lock:
        number = next(_numbers)
        _pending[number] = future
    return number, future


def _finish(number, error, value):
    with _lock:
        future = _pending.pop(number)
    if error:
        future.set_exception(error)
    else:
        future.set_result(value)


@_Callback
def _done(number, value, error):
    _finish(number, Error._of(error) if error else None, value.decode() if value is not None else None)


def _taken(result):
    """The failure and the bytes of a result, one of them None, which is freed."""
    error, data = result.contents.error, None
    if not error:
        data = ctypes.string_at(result.contents.data, result.contents.length)
    failure = Error._of(error) if error else None
    _library.runar_data_result_free(result)
    return failure, data


@_DataCallback
def _answered(number, result):
    _finish(number, *_taken(result))


def _bytes(result):
    failure, data = _taken(result)
    if failure:
        raise failure
    return data


def _soon(function, *arguments, callback=_done):
    number, future = _begin()
    function(*arguments, callback, number)
    return future


def seal(data, recipient_key, *, signing_key=None, tag_bits=0, hash_binding=False):
    """Seals bytes as a NanoTDF that only the private half of `recipient_key` opens. Keys are PEM texts."""
    options = _SealOptions(ctypes.sizeof(_SealOptions), tag_bits, hash_binding, _text(signing_key))
    return _bytes(_library.runar_nanotdf_seal(_text(recipient_key), data, len(data), ctypes.byref(options)))


def open_sealed(data, private_key, *, creator_key=None):
    """Opens a NanoTDF, which must have the signature of `creator_key` if one is given, and returns the plaintext."""
    return _bytes(_library.runar_nanotdf_open(_text(private_key), _text(creator_key), data, len(data)))


class Event(collections.namedtuple("Event", "topic data publisher network_id published_at number lost")):
    """Something that was published. `lost` counts events before it that did not arrive."""

    def decode(self):
        """The data as a value; None for no data."""
        return json.loads(self.data) if self.data else None


class Request(collections.namedtuple("Request", "path parameters network_id peer_id payload encoding time_left")):
    """A request to a service. `peer_id` is None for this device, `time_left` is in seconds."""

    def decode(self):
        """The payload as a value; None for no payload."""
        return json.loads(self.payload) if self.payload else None


class Subscription:
    """Calls a handler with one event after the other, until cancel()."""

    _callback_type = _EventCallback

    def __init__(self, handler):
        self._handler, self._queue, self._dropped = handler, queue.Queue(EVENTS_WAITING), 0
        self._callback = self._callback_type(self._take)
        self._node = self._id = None
        threading.Thread(target=self._deliver, daemon=True).start()

    def _take(self, _, event):
        event = event.contents
        lost = event.dropped_before + event.missed_before + self._dropped
        taken = Event(
            event.topic.decode(), ctypes.string_at(event.data, event.length) if event.length else b"",
            event.publisher.decode(), event.network_id.decode() if event.network_id else None, event.published_at,
            event.number, lost,
        )
        try:
            self._queue.put_nowait(taken)
            self._dropped = 0
        except queue.Full:
            self._dropped = lost + 1

    def _deliver(self):
        while (event := self._queue.get()) is not None:
            try:
                self._handler(event)
            except Exception:  # a handler's failure is told and does not end the subscription
                sys.excepthook(*sys.exc_info())

    def cancel(self):
        """Ends the subscription: after this returned, no call of its handler begins but one that is beginning."""
        if self._id and _library.runar_node_unsubscribe(self._node._handle, self._id.encode()):
            self._node._subscriptions.discard(self)
            while not self._queue.empty():
                self._queue.get_nowait()
            self._queue.put(None)


class CircleEvent(collections.namedtuple("CircleEvent", "kind person_id change person thought")):
    """A change in the circle.

    `kind` is "trust_changed", "profile_changed", "thought_received" or "delivery_changed". `change` is "requested",
    "trusted", "declined" or "revoked", and None for other kinds. The first two kinds have a `person`, the others a `thought`:
    dictionaries as those of Circle.people and Circle.thoughts().
    """

    _KINDS = {1: "trust_changed", 2: "profile_changed", 3: "thought_received", 4: "delivery_changed"}

    @classmethod
    def _of(cls, event):
        subject = json.loads(event.json)
        has_person = event.kind in (1, 2)
        return cls(
            cls._KINDS.get(event.kind), event.person_id.decode() if event.person_id else None,
            event.change.decode() if event.change else None, subject if has_person else None,
            None if has_person else subject,
        )


class _CircleSubscription(Subscription):
    """Calls a handler with each event of a circle; events are dropped while too many wait."""

    _callback_type = _CircleCallback

    def _take(self, _, event):
        try:
            self._queue.put_nowait(CircleEvent._of(event.contents))
        except queue.Full:
            pass  # as in the library, where as many wait at most


class Circle:
    """The people that this device's person trusts, and the thoughts that they exchange; see Node.open_circle().

    People and thoughts are named by their public ids. Trust needs the consent of both people.
    """

    def __init__(self, node):
        self._node = node
        self._call(_library.runar_node_open_circle)

    def _call(self, function, *arguments):
        return _soon(function, self._node._handle, *arguments).result()

    @property
    def card(self):
        """The card of this device's person as a text, `runar://person/...`."""
        return self._call(_library.runar_node_get_card)

    @property
    def people(self):
        """The people as a list of dictionaries, also those in whom trust was revoked."""
        return json.loads(self._call(_library.runar_node_get_people))

    def set_profile(self, name, blurb=None):
        """Sets the profile of this device's person; returns the person's id."""
        return self._call(_library.runar_node_set_profile, _text(name), _text(blurb))

    def invite(self, device_or_card):
        """Asks the person of a connected device, or of a card's text, for trust; returns the person's id for a card."""
        is_card = device_or_card.strip().startswith("runar://")
        function = _library.runar_node_invite_card if is_card else _library.runar_node_invite_device
        return self._call(function, _text(device_or_card))

    def accept(self, person):
        """Accepts the request of a person, or invites a person again in whom trust was revoked."""
        self._call(_library.runar_node_accept_person, _text(person))

    def decline(self, person):
        """Declines the request of a person."""
        self._call(_library.runar_node_decline_person, _text(person))

    def verify(self, safety_number, person):
        """Notes that a person compared the safety number with the one on the other person's screen."""
        self._call(_library.runar_node_verify_person, _text(person), _text(safety_number))

    def revoke_trust(self, person):
        """Revokes the trust in a person; it returns by accept(), without a question to a person who still trusts."""
        self._call(_library.runar_node_revoke_trust, _text(person))

    def say(self, text, person):
        """Says a text to a person; returns the id of the thought once it is stored."""
        return self._call(_library.runar_node_say, _text(person), _text(text))

    def send(self, media_type, content, person, *, content_type=None, file_name=None):
        """Sends bytes as "say", "text", "post", "image", "audio" or "video"; returns the id of the thought."""
        arguments = _text(media_type), content, len(content), _text(content_type), _text(file_name)
        return self._call(_library.runar_node_send_thought, _text(person), *arguments)

    def thoughts(self, person, before=0, limit=50):
        """Returns the thoughts with a person as dictionaries, the newest first; `before` is the number of a thought."""
        return json.loads(self._call(_library.runar_node_get_thoughts, _text(person), before, limit))

    def content(self, thought):
        """Returns the content of a thought as bytes."""
        arguments = self._node._handle, _text(thought)
        return _soon(_library.runar_node_get_thought_content, *arguments, callback=_answered).result()

    def note_opened(self, thoughts):
        """Tells the creators of thoughts that this device's person saw them; `thoughts` are ids, at most 256."""
        self._call(_library.runar_node_note_opened, _text(",".join(thoughts)))

    def subscribe(self, handler):
        """Calls `handler` with each CircleEvent until cancel() of the Subscription that this returns."""
        subscription = _CircleSubscription(handler)
        arguments = self._node._handle, subscription._callback, None
        return self._node._follow(subscription, _library.runar_node_subscribe_circle, *arguments)


class Service:
    """A service that devices ask: add actions with `@service.action("name")`, then add it to a node."""

    def __init__(self, name, path, version="1.0.0", description="", network=None):
        self._handle = _now(
            _library.runar_service_create, _text(name), _text(path), _text(version), _text(description)
        )
        self._kept = []
        if network is not None:
            _now(_library.runar_service_set_network, self._handle, _text(network))

    def __del__(self):
        if getattr(self, "_handle", None):
            _library.runar_service_free(self._handle)

    def action(self, name):
        """Makes a function of (payload, request) an action; what it returns is the answer, as JSON."""
        def register(function):
            callback = _ActionCallback(lambda _, handle, info: self._take(function, handle, info.contents))
            _now(_library.runar_service_register_action, self._handle, _text(name), callback, None)
            self._kept.append(callback)
            return function
        return register

    def event(self, topic):
        """Has a function called with each event of a topic, while a node has the service."""
        def register(function):
            subscription = Subscription(function)
            _now(_library.runar_service_register_event, self._handle, _text(topic), subscription._callback, None)
            self._kept.append(subscription)
            return function
        return register

    def _take(self, function, handle, info):
        request = Request(
            info.path.decode(), json.loads(info.parameters), info.network_id.decode() if info.network_id else None,
            info.peer_id.decode() if info.peer_id else None,
            ctypes.string_at(info.payload, info.payload_length) if info.payload_length else b"", info.encoding,
            info.time_left_ms / 1000,
        )
        threading.Thread(target=self._answer, args=(function, handle, request), daemon=True).start()

    @staticmethod
    def _answer(function, handle, request):
        try:
            answer = json.dumps(function(request.decode(), request)).encode()
            _library.runar_request_respond(handle, answer, len(answer), None)
        except Error as error:
            _library.runar_request_fail(handle, error.code, _text(error.message), _text(error.context), None)
        except Exception as error:  # the caller receives the error
            text = f"{type(error).__name__}: {error}"
            _library.runar_request_fail(handle, HANDLER_FAILED, _text(text), None, None)


class _Passphrase:
    """Gives the library the passphrase of a vault: a text, bytes, or a function that returns one of them."""

    def __init__(self, source):
        self._source, self.failure = source, None
        self.callback = _PassphraseCallback() if source is None else _PassphraseCallback(self._give)

    def _give(self, _, buffer, capacity):
        try:
            given = self._source() if callable(self._source) else self._source
            given = given.encode() if isinstance(given, str) else bytes(given or b"")
        except BaseException as error:  # it goes to the caller of Node
            self.failure = error
            return 0
        if len(given) > capacity:
            return 0
        ctypes.memmove(buffer, given, len(given))
        return len(given)


# Until they are closed, so that what their services call is there as long as they run.
_nodes = set()


class Node:
    """One device in its owner's networks.

    Its keys are in a vault in `home`, or in memory and gone with it. What opens the vault is `passphrase` (a text, bytes or a
    function that returns one), or the key file at `key_file`, or else one next to the vault, made if missing.
    """

    def __init__(
        self, home=None, *, in_memory=False, node_id=None, default_network=None, listen=None, networks=(),
        request_timeout=None, log_level=0, discovery=True, max_peers=0, key_file=None, passphrase=None,
    ):
        secret = _Passphrase(passphrase)
        config = _NodeConfig(
            ctypes.sizeof(_NodeConfig), _text(node_id), _text(default_network), _text(home), in_memory, _text(listen),
            _text(",".join(networks) or None), round((request_timeout or 0) * 1000), log_level, not discovery,
            max_peers, _text(key_file), secret.callback, None,
        )
        try:
            self._handle = _now(_library.runar_node_create, ctypes.byref(config))
        except Error:
            if secret.failure:
                raise secret.failure from None
            raise
        self._subscriptions, self._services = set(), []
        _nodes.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stops the node and lets go of it; calls under way fail with code 4005."""
        handle, self._handle = self._handle, None
        if handle:
            _library.runar_node_free(handle)
            _nodes.discard(self)
            for subscription in self._subscriptions:
                subscription._queue.put(None)

    def start(self):
        """Goes on the network; returns the peer id."""
        return _soon(_library.runar_node_start, self._handle).result()

    def stop(self):
        """Leaves the network; services and subscriptions stay for another start."""
        _soon(_library.runar_node_stop, self._handle).result()

    @property
    def peer_id(self):
        """Who the device is."""
        return _owned(_now(_library.runar_node_peer_id, self._handle))

    @property
    def port(self):
        """The UDP port that it listens on; 0 while it is stopped."""
        return _library.runar_node_listening_port(self._handle)

    def info(self):
        """What the node says about itself, as a dictionary."""
        return json.loads(_soon(_library.runar_node_get_info, self._handle).result())

    def known_peers(self):
        """The devices that it knows, as a list of dictionaries."""
        return json.loads(_soon(_library.runar_node_get_known_peers, self._handle).result())

    def create_network(self, name):
        """Makes a network that this device owns; returns its id."""
        return _owned(_now(_library.runar_node_create_network, self._handle, _text(name)))

    def issue_token(self, network_id, peer_id, expiration=0):
        """Returns a token's text that makes a peer a member, until a time in seconds since 1970 or without end."""
        return _owned(
            _now(_library.runar_node_issue_token, self._handle, _text(network_id), _text(peer_id), int(expiration))
        )

    def join_network(self, token):
        """Becomes a member by a token for this device; returns the network's id."""
        return _soon(_library.runar_node_join_network, self._handle, _text(token)).result()

    def connect(self, peer_id, network_id, address=None):
        """Connects to a member and keeps the connection."""
        arguments = _text(peer_id), _text(network_id), _text(address)
        _soon(_library.runar_node_connect, self._handle, *arguments).result()

    def request(self, path, payload=None, **options):
        """Asks a service with a value and returns the answer; see request_soon()."""
        answer = self.request_soon(path, b"" if payload is None else json.dumps(payload).encode(), **options).result()
        return json.loads(answer) if answer else None

    def request_soon(self, path, payload=b"", *, timeout=None, idempotent=False, peer=None, encoding=JSON):
        """Asks a service with bytes, written as `encoding` says, and returns a Future of those of the answer.

        `cancel_request()` of the Future gives the request up."""
        options = _RequestOptions(
            ctypes.sizeof(_RequestOptions), round((timeout or 0) * 1000), idempotent, _text(peer), encoding
        )
        number, future = _begin()
        handle = self._handle
        request = _library.runar_node_request_raw(
            handle, _text(path), payload, len(payload), ctypes.byref(options), _answered, number
        )
        future.cancel_request = lambda: _library.runar_node_cancel_request(handle, request)
        return future

    def publish(self, topic, data=None):
        """Publishes a value to the subscribers of the topic."""
        self.publish_raw(topic, b"" if data is None else json.dumps(data).encode())

    def publish_raw(self, topic, data):
        """Publishes bytes."""
        _soon(_library.runar_node_publish, self._handle, _text(topic), data, len(data)).result()

    def subscribe(self, topic, handler, includes_past=False):
        """Has `handler` called with each Event of a topic, or of many with `*`, `{name}` and a trailing `>`."""
        subscription = Subscription(handler)
        arguments = self._handle, _text(topic), includes_past, subscription._callback, None
        return self._follow(subscription, _library.runar_node_subscribe, *arguments)

    def _follow(self, subscription, function, *arguments):
        try:
            subscription._id = _owned(_now(function, *arguments))
        except Error:
            subscription._queue.put(None)
            raise
        subscription._node = self
        self._subscriptions.add(subscription)
        return subscription

    def add_service(self, service):
        """Offers a service."""
        self._services.append(service)
        _soon(_library.runar_node_add_service, self._handle, service._handle).result()

    def remove_service(self, path):
        """Offers a service no longer."""
        _soon(_library.runar_node_remove_service, self._handle, _text(path)).result()

    def exchange_keys(self, peer_id):
        """Exchanges one-time keys with a connected peer; returns a dictionary that has the safety number."""
        return json.loads(_soon(_library.runar_node_exchange_keys, self._handle, _text(peer_id)).result())

    def key_relationships(self):
        """The peers with whom keys were exchanged, as a list of dictionaries."""
        return json.loads(_soon(_library.runar_node_get_key_relationships, self._handle).result())

    def verify_keys(self, peer_id, safety_number):
        """Notes that a person compared the safety number with the one on the peer's screen."""
        _soon(_library.runar_node_verify_keys, self._handle, _text(peer_id), _text(safety_number)).result()

    def remove_keys(self, peer_id):
        """Deletes all one-time keys of this device and a peer."""
        _soon(_library.runar_node_remove_keys, self._handle, _text(peer_id)).result()

    def seal(self, data, peer_id):
        """Seals bytes to the next one-time key of a peer."""
        arguments = self._handle, _text(peer_id), data, len(data)
        return _soon(_library.runar_node_seal, *arguments, callback=_answered).result()

    def open(self, message, peer_id):
        """Opens a sealed message of a peer, whose key is erased."""
        arguments = self._handle, _text(peer_id), message, len(message)
        return _soon(_library.runar_node_open, *arguments, callback=_answered).result()

    def open_circle(self):
        """Opens the circle of this device's person before start(), so that no request is refused; returns the Circle."""
        return Circle(self)

    def tell(self, news):
        """What the system told the app: "handle_memory_warning", "optimize_memory_usage", "reduce_operations",
        "resume_operations", "network_available" or "network_unavailable"."""
        getattr(_library, f"runar_node_{news}")(self._handle)


@atexit.register
def _close_all():
    # Callbacks must not come to an interpreter that is gone.
    for node in list(_nodes):
        node.close()

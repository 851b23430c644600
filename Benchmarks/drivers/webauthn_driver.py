"""Registrations and sign-ins with py_webauthn, under uvicorn and with SQLite, as a Python service would have them.

`webauthn_driver.py FOLDER` serves the four requests that `runar-bench identity client` sends. One process, as uvicorn starts
by itself, with uvloop and httptools; a write-ahead log that is synchronized at each commit, as Runar's is. Challenges are in
memory, tokens are random, and no proof of the DID is verified, so each request costs less than Runar's.
"""

import contextlib
import json
import os
import secrets
import socket
import sqlite3
import sys
import threading
import time

import uvicorn
import webauthn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

RP_ID, ORIGIN = "localhost", "http://localhost:8443"
SESSION_SECONDS = 2_592_000
TABLES = """
CREATE TABLE accounts (user_id BLOB PRIMARY KEY, handle TEXT NOT NULL UNIQUE, did TEXT NOT NULL UNIQUE, created INTEGER);
CREATE TABLE credentials (id BLOB PRIMARY KEY, user_id BLOB NOT NULL REFERENCES accounts, public_key BLOB NOT NULL,
    sign_count INTEGER NOT NULL, used INTEGER);
CREATE TABLE sessions (id BLOB PRIMARY KEY, user_id BLOB NOT NULL REFERENCES accounts, expires INTEGER NOT NULL);
"""


class Accounts:
    def __init__(self, folder):
        self.database = sqlite3.connect(os.path.join(folder, "accounts.sqlite"), isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute("PRAGMA foreign_keys = ON")
        self.database.executescript(TABLES)
        self.challenges = {}

    def issue(self, challenge, user_id=None):
        self.challenges[challenge] = (user_id, time.monotonic() + 300)

    def take(self, body):
        """The challenge that an authenticator answered, with what was noted for it."""
        client_data = json.loads(base64url_to_bytes(body["response"]["clientDataJSON"]))
        challenge = base64url_to_bytes(client_data["challenge"])
        user_id, expiry = self.challenges.pop(challenge)
        if time.monotonic() > expiry:
            raise KeyError("expired")
        return challenge, user_id

    @contextlib.contextmanager
    def transaction(self):
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield self.database
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")

    def sign_in(self, database, user_id):
        session = secrets.token_bytes(16)
        expires = int(time.time()) + SESSION_SECONDS
        database.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session, user_id, expires))
        return {"token": secrets.token_urlsafe(200), "session": session.hex(), "expires": expires}

    async def begin_registration(self, request):
        handle, did = request.query_params["handle"], request.query_params["did"]
        for column, value in (("handle", handle), ("did", did)):
            if self.database.execute(f"SELECT 1 FROM accounts WHERE {column} = ?", (value,)).fetchone():
                return JSONResponse({"error": column}, 409)
        options = webauthn.generate_registration_options(
            rp_id=RP_ID,
            rp_name="peer",
            user_name=handle,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
        )
        self.issue(options.challenge, options.user.id)
        return published(options)

    async def finish_registration(self, request):
        body = await request.json()
        challenge, user_id = self.take(body)
        verified = webauthn.verify_registration_response(
            credential=body,
            expected_challenge=challenge,
            expected_rp_id=RP_ID,
            expected_origin=ORIGIN,
            require_user_verification=True,
        )
        with self.transaction() as database:
            row = (user_id, body["handle"], body["did"], int(time.time()))
            database.execute("INSERT INTO accounts VALUES (?, ?, ?, ?)", row)
            row = (verified.credential_id, user_id, verified.credential_public_key, verified.sign_count)
            database.execute("INSERT INTO credentials VALUES (?, ?, ?, ?, NULL)", row)
            report = self.sign_in(database, user_id)
        return JSONResponse(report)

    async def begin_authentication(self, request):
        options = webauthn.generate_authentication_options(
            rp_id=RP_ID, user_verification=UserVerificationRequirement.REQUIRED
        )
        self.issue(options.challenge)
        return published(options)

    async def finish_authentication(self, request):
        body = await request.json()
        challenge, _ = self.take(body)
        identifier = base64url_to_bytes(body["rawId"])
        found = self.database.execute(
            "SELECT user_id, public_key, sign_count FROM credentials WHERE id = ?", (identifier,)
        ).fetchone()
        if not found:
            return JSONResponse({"error": "not-signed-in"}, 403)
        verified = webauthn.verify_authentication_response(
            credential=body,
            expected_challenge=challenge,
            expected_rp_id=RP_ID,
            expected_origin=ORIGIN,
            credential_public_key=found[1],
            credential_current_sign_count=found[2],
            require_user_verification=True,
        )
        with self.transaction() as database:
            row = (verified.new_sign_count, int(time.time()), identifier)
            database.execute("UPDATE credentials SET sign_count = ?, used = ? WHERE id = ?", row)
            report = self.sign_in(database, found[0])
        return JSONResponse(report)


def published(options):
    return Response('{"publicKey":' + webauthn.options_to_json(options) + "}", media_type="application/json")


def end_with_input():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def main():
    accounts = Accounts(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        print(json.dumps({"id": "py_webauthn", "address": address}), flush=True)
        yield

    routes = [
        Route("/register", accounts.finish_registration, methods=["POST"]),
        Route("/register/{handle}", accounts.begin_registration),
        Route("/authenticate", accounts.begin_authentication, methods=["GET"]),
        Route("/authenticate", accounts.finish_authentication, methods=["POST"]),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    threading.Thread(target=end_with_input, daemon=True).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, loop="uvloop", http="httptools", timeout_keep_alive=60)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()

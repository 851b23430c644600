// A TLS 1.3 server (RFC 8446) that works in memory: the caller owns the socket, hands over the bytes that were received
// and sends the bytes that are pending. A session is used by one thread at a time.
#ifndef CTLSSHIM_H
#define CTLSSHIM_H

#include <stddef.h>
#include <stdint.h>

enum {
    // The handshake is complete, or the bytes were encrypted.
    TS_OK = 0,
    // More bytes of the peer are needed first.
    TS_AGAIN = -1,
    // The connection cannot continue; `ts_session_error` gives the reason, and an alert may be pending.
    TS_FAILED = -2,
};

// A certificate with its key, shared by all sessions of a server.
typedef struct ts_identity ts_identity;
typedef struct ts_session ts_session;

// Takes a certificate (DER) and its key (PKCS #8 DER). Returns NULL and fills `why` on failure.
ts_identity *ts_identity_new(const uint8_t *certificate, size_t certificate_length, const uint8_t *key,
                             size_t key_length, char *why, size_t why_size);
void ts_identity_free(ts_identity *identity);

// Offers the one application protocol (RFC 7301) `http/1.1`. The identity must outlive the session. NULL: no memory.
ts_session *ts_session_new(const ts_identity *identity);
void ts_session_free(ts_session *session);

// Adds bytes that were received. They are copied. TS_OK or, without memory, TS_FAILED.
int ts_session_receive(ts_session *session, const uint8_t *bytes, size_t length);

// Advances the handshake: TS_OK, TS_AGAIN or TS_FAILED.
int ts_session_handshake(ts_session *session);

// Decrypts at most `capacity` bytes: their number, 0 after the peer's close_notify, TS_AGAIN or TS_FAILED.
ptrdiff_t ts_session_read(ts_session *session, uint8_t *bytes, size_t capacity);

// Encrypts all of the bytes: TS_OK or TS_FAILED.
int ts_session_write(ts_session *session, const uint8_t *bytes, size_t length);

// Adds close_notify to the pending bytes.
void ts_session_close(ts_session *session);

// The bytes to be sent, valid until the next call with this session.
const uint8_t *ts_session_pending(const ts_session *session, size_t *length);
void ts_session_clear_pending(ts_session *session);

// The reason of the last TS_FAILED, a text that is never freed.
const char *ts_session_error(const ts_session *session);

#endif

// A TLS 1.3 server (RFC 8446), and a client of TLS 1.3 and 1.2, that work in memory: the caller owns the socket, hands
// over the bytes that were received and sends the bytes that are pending. A session is used by one thread at a time.
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

enum {
    // The most certificates of a chain.
    TS_CHAIN_LIMIT = 8,
};

// The kinds of TS_FAILED.
typedef enum {
    // See the text of the error.
    TS_REASON_OTHER = 0,
    // The peer sent an alert, which is the text of the error.
    TS_REASON_ALERT,
    // The peer supports no version of TLS that is offered.
    TS_REASON_VERSION,
    // No trusted authority issued the certificate.
    TS_REASON_AUTHORITY,
    // The seconds since 1970 are the end of the certificate, if it is known.
    TS_REASON_EXPIRED,
    // The seconds since 1970 are the start of the certificate, if it is known.
    TS_REASON_NOT_YET_VALID,
    TS_REASON_NAME,
    TS_REASON_REVOKED,
    // A key or a signature is too weak.
    TS_REASON_WEAK,
    // The certificates are malformed, or for another purpose.
    TS_REASON_CERTIFICATE,
    // The verified chain has no pinned key.
    TS_REASON_PIN,
} ts_reason;

// The certificates of a server with the key of the first one, shared by all sessions.
typedef struct ts_identity ts_identity;
// The authorities that a client trusts, shared by all sessions.
typedef struct ts_trust ts_trust;
typedef struct ts_session ts_session;

// Takes a chain of `count` certificates (DER, one behind the other), the leaf first, and the key of the leaf (DER of
// PKCS #8, SEC 1 or PKCS #1). Returns NULL and fills `why` on failure.
ts_identity *ts_identity_new(const uint8_t *certificates, const size_t *lengths, size_t count, const uint8_t *key,
                             size_t key_length, char *why, size_t why_size);
void ts_identity_free(ts_identity *identity);

// Trusts the roots (PEM), or those of the system for NULL. Returns NULL and fills `why` on failure.
ts_trust *ts_trust_new(const uint8_t *roots, size_t length, char *why, size_t why_size);
void ts_trust_free(ts_trust *trust);

// Offers the one application protocol (RFC 7301) `http/1.1`. The identity must outlive the session. NULL: no memory.
ts_session *ts_session_new(const ts_identity *identity);

// The session of a client, which accepts certificates of the host `name` (also sent, RFC 6066) or, for NULL, of an
// address of 4 or 16 bytes. With pins, SHA-256 digests of SubjectPublicKeyInfo, the verified chain must have one of
// these keys. The trust must outlive the session. NULL: no memory.
ts_session *ts_session_new_client(const ts_trust *trust, const char *name, const uint8_t *address,
                                  size_t address_length, const uint8_t *pins, size_t pin_count);
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

// The reason of the last TS_FAILED, and the time that belongs to it or 0.
ts_reason ts_session_reason(const ts_session *session);
int64_t ts_session_reason_seconds(const ts_session *session);

// The last TS_FAILED in words, a text that is never freed.
const char *ts_session_error(const ts_session *session);

#endif

// A TLS session with GnuTLS, over two buffers in place of a socket.
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const char protocol[] = "http/1.1";

static bool append(ts_buffer *to, const void *bytes, size_t length) {
    if (to->start == to->end) to->start = to->end = 0;
    if (to->capacity - to->end < length) {
        size_t needed = to->end + length, capacity = to->capacity < 4096 ? 4096 : to->capacity;
        if (needed < length) return false;
        while (capacity < needed) {
            if (capacity > SIZE_MAX / 2) return false;
            capacity *= 2;
        }
        uint8_t *grown = realloc(to->bytes, capacity);
        if (grown == NULL) return false;
        to->bytes = grown;
        to->capacity = capacity;
    }
    if (length > 0) memcpy(to->bytes + to->end, bytes, length);
    to->end += length;
    return true;
}

static ssize_t push(gnutls_transport_ptr_t user, const void *bytes, size_t length) {
    ts_session *session = user;
    if (append(&session->pending, bytes, length)) return (ssize_t)length;
    gnutls_transport_set_errno(session->session, ENOMEM);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t user, void *bytes, size_t capacity) {
    ts_session *session = user;
    ts_buffer *from = &session->received;
    size_t length = from->end - from->start;
    if (length == 0) {
        gnutls_transport_set_errno(session->session, EAGAIN);
        return -1;
    }
    if (length > capacity) length = capacity;
    memcpy(bytes, from->bytes + from->start, length);
    from->start += length;
    return (ssize_t)length;
}

// Whether `pull` has something; the default asks a socket.
static int can_pull(gnutls_transport_ptr_t user, unsigned int milliseconds) {
    const ts_session *session = user;
    (void)milliseconds;
    return session->received.end > session->received.start ? 1 : 0;
}

ts_session *ts_session_start(unsigned int flags, gnutls_priority_t priority,
                             gnutls_certificate_credentials_t credentials) {
    ts_session *session = calloc(1, sizeof(*session));
    if (session == NULL) return NULL;
    session->alert = -1;
    const gnutls_datum_t offered = {(unsigned char *)(uintptr_t)protocol, sizeof(protocol) - 1};
    unsigned int precedence = (flags & GNUTLS_SERVER) != 0 ? GNUTLS_ALPN_SERVER_PRECEDENCE : 0;
    // No tickets: a session that resumes would outlive the certificate.
    flags |= GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS | GNUTLS_NO_AUTO_SEND_TICKET;
    if (gnutls_init(&session->session, flags) != 0 || gnutls_priority_set(session->session, priority) != 0 ||
        gnutls_credentials_set(session->session, GNUTLS_CRD_CERTIFICATE, credentials) != 0 ||
        gnutls_alpn_set_protocols(session->session, &offered, 1, precedence) != 0) {
        ts_session_free(session);
        return NULL;
    }
    gnutls_session_set_ptr(session->session, session);
    gnutls_transport_set_ptr(session->session, session);
    gnutls_transport_set_push_function(session->session, push);
    gnutls_transport_set_pull_function(session->session, pull);
    gnutls_transport_set_pull_timeout_function(session->session, can_pull);
    return session;
}

void ts_session_free(ts_session *session) {
    if (session == NULL) return;
    if (session->session != NULL) gnutls_deinit(session->session);
    ts_expectation_clear(&session->expected);
    free(session->received.bytes);
    free(session->pending.bytes);
    free(session);
}

int ts_session_receive(ts_session *session, const uint8_t *bytes, size_t length) {
    if (append(&session->received, bytes, length)) return TS_OK;
    session->error = GNUTLS_E_MEMORY_ERROR;
    return TS_FAILED;
}

static ts_reason reason(const ts_session *session, int status) {
    // Found by the check of the certificates.
    if (session->reason != TS_REASON_OTHER) return session->reason;
    switch (status) {
    case GNUTLS_E_UNSUPPORTED_VERSION_PACKET:
        return TS_REASON_VERSION;
    case GNUTLS_E_FATAL_ALERT_RECEIVED:
        return gnutls_alert_get(session->session) == GNUTLS_A_PROTOCOL_VERSION ? TS_REASON_VERSION : TS_REASON_ALERT;
    default:
        return TS_REASON_OTHER;
    }
}

static int failed(ts_session *session, int status) {
    session->error = status;
    session->reason = reason(session, status);
    // It is only queued here; where no alert is fitting, none is.
    if (session->alert >= 0)
        (void)gnutls_alert_send(session->session, GNUTLS_AL_FATAL, (gnutls_alert_description_t)session->alert);
    else
        (void)gnutls_alert_send_appropriate(session->session, status);
    return TS_FAILED;
}

static bool is_waiting(int status) { return status == GNUTLS_E_AGAIN || status == GNUTLS_E_INTERRUPTED; }

// Whether a server asks for another handshake (TLS 1.2), in which it could present other certificates.
static bool is_refused(const ts_session *session, ssize_t status) {
    return session->expected.credentials != NULL && status == GNUTLS_E_REHANDSHAKE;
}

int ts_session_handshake(ts_session *session) {
    for (;;) {
        int status = gnutls_handshake(session->session);
        if (status == 0) return TS_OK;
        if (is_waiting(status)) {
            if (can_pull(session, 0)) continue;
            return TS_AGAIN;
        }
        if (gnutls_error_is_fatal(status)) return failed(session, status);
    }
}

ptrdiff_t ts_session_read(ts_session *session, uint8_t *bytes, size_t capacity) {
    for (;;) {
        ssize_t count = gnutls_record_recv(session->session, bytes, capacity);
        if (count >= 0) return count;
        if (is_waiting((int)count)) {
            if (can_pull(session, 0)) continue;
            return TS_AGAIN;
        }
        if (is_refused(session, count) || gnutls_error_is_fatal((int)count)) return failed(session, (int)count);
    }
}

int ts_session_write(ts_session *session, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = gnutls_record_send(session->session, bytes, length);
        if (count <= 0) return failed(session, count == 0 ? GNUTLS_E_INVALID_SESSION : (int)count);
        bytes += count;
        length -= (size_t)count;
    }
    return TS_OK;
}

void ts_session_close(ts_session *session) {
    // Without it the peer could not distinguish the end from a truncation.
    (void)gnutls_bye(session->session, GNUTLS_SHUT_WR);
}

const uint8_t *ts_session_pending(const ts_session *session, size_t *length) {
    *length = session->pending.end - session->pending.start;
    return session->pending.bytes + session->pending.start;
}

void ts_session_clear_pending(ts_session *session) { session->pending.start = session->pending.end = 0; }

ts_reason ts_session_reason(const ts_session *session) { return session->reason; }

int64_t ts_session_reason_seconds(const ts_session *session) { return session->reason_seconds; }

const char *ts_session_error(const ts_session *session) {
    if (session->error == GNUTLS_E_FATAL_ALERT_RECEIVED || session->error == GNUTLS_E_WARNING_ALERT_RECEIVED) {
        const char *name = gnutls_alert_get_name(gnutls_alert_get(session->session));
        if (name != NULL) return name;
    }
    return gnutls_strerror(session->error);
}

// The server side of TLS 1.3 with GnuTLS, over two buffers in place of a socket.
#include "ctlsshim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:%SERVER_PRECEDENCE";
static const char protocol[] = "http/1.1";

typedef struct {
    uint8_t *bytes;
    size_t start, end, capacity;
} buffer;

struct ts_identity {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
};

struct ts_session {
    gnutls_session_t session;
    buffer received, pending;
    int error;
};

static bool append(buffer *to, const void *bytes, size_t length) {
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
    buffer *from = &session->received;
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

static int load(ts_identity *identity, gnutls_datum_t certificate, gnutls_datum_t key) {
    int status = gnutls_certificate_allocate_credentials(&identity->credentials);
    if (status != 0) return status;
    status = gnutls_certificate_set_x509_key_mem(identity->credentials, &certificate, &key, GNUTLS_X509_FMT_DER);
    if (status < 0) return status;
    return gnutls_priority_init(&identity->priority, priority, NULL);
}

ts_identity *ts_identity_new(const uint8_t *certificate, size_t certificate_length, const uint8_t *key,
                             size_t key_length, char *why, size_t why_size) {
    ts_identity *identity = calloc(1, sizeof(*identity));
    int status = identity == NULL ? GNUTLS_E_MEMORY_ERROR : 0;
    if (status == 0)
        status = load(identity, (gnutls_datum_t){(unsigned char *)(uintptr_t)certificate, (unsigned)certificate_length},
                      (gnutls_datum_t){(unsigned char *)(uintptr_t)key, (unsigned)key_length});
    if (status == 0) return identity;
    snprintf(why, why_size, "%s", gnutls_strerror(status));
    ts_identity_free(identity);
    return NULL;
}

void ts_identity_free(ts_identity *identity) {
    if (identity == NULL) return;
    if (identity->priority != NULL) gnutls_priority_deinit(identity->priority);
    if (identity->credentials != NULL) gnutls_certificate_free_credentials(identity->credentials);
    free(identity);
}

ts_session *ts_session_new(const ts_identity *identity) {
    ts_session *session = calloc(1, sizeof(*session));
    if (session == NULL) return NULL;
    const gnutls_datum_t offered = {(unsigned char *)(uintptr_t)protocol, sizeof(protocol) - 1};
    // No tickets: a session that resumes would outlive the certificate.
    unsigned int flags = GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS | GNUTLS_NO_AUTO_SEND_TICKET;
    if (gnutls_init(&session->session, flags) != 0 ||
        gnutls_priority_set(session->session, identity->priority) != 0 ||
        gnutls_credentials_set(session->session, GNUTLS_CRD_CERTIFICATE, identity->credentials) != 0 ||
        gnutls_alpn_set_protocols(session->session, &offered, 1, GNUTLS_ALPN_SERVER_PRECEDENCE) != 0) {
        ts_session_free(session);
        return NULL;
    }
    gnutls_certificate_server_set_request(session->session, GNUTLS_CERT_IGNORE);
    gnutls_transport_set_ptr(session->session, session);
    gnutls_transport_set_push_function(session->session, push);
    gnutls_transport_set_pull_function(session->session, pull);
    gnutls_transport_set_pull_timeout_function(session->session, can_pull);
    return session;
}

void ts_session_free(ts_session *session) {
    if (session == NULL) return;
    if (session->session != NULL) gnutls_deinit(session->session);
    free(session->received.bytes);
    free(session->pending.bytes);
    free(session);
}

int ts_session_receive(ts_session *session, const uint8_t *bytes, size_t length) {
    if (append(&session->received, bytes, length)) return TS_OK;
    session->error = GNUTLS_E_MEMORY_ERROR;
    return TS_FAILED;
}

static int failed(ts_session *session, int status) {
    session->error = status;
    // It is only queued here; where no alert is fitting, none is.
    (void)gnutls_alert_send_appropriate(session->session, status);
    return TS_FAILED;
}

static bool is_waiting(int status) { return status == GNUTLS_E_AGAIN || status == GNUTLS_E_INTERRUPTED; }

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
        if (gnutls_error_is_fatal((int)count)) return failed(session, (int)count);
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
    // Without it the peer could not distinguish the end from a truncation; nothing depends on it here.
    (void)gnutls_bye(session->session, GNUTLS_SHUT_WR);
}

const uint8_t *ts_session_pending(const ts_session *session, size_t *length) {
    *length = session->pending.end - session->pending.start;
    return session->pending.bytes + session->pending.start;
}

void ts_session_clear_pending(ts_session *session) { session->pending.start = session->pending.end = 0; }

const char *ts_session_error(const ts_session *session) { return gnutls_strerror(session->error); }

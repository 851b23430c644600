// The parts of a session that its two roles share.
#ifndef CTLSSHIM_SESSION_H
#define CTLSSHIM_SESSION_H

#include "ctlsshim.h"

#include <stdbool.h>

#include <gnutls/gnutls.h>

typedef struct {
    uint8_t *bytes;
    size_t start, end, capacity;
} ts_buffer;

// The facts that a client compares the server's certificates with.
typedef struct {
    // NULL for a server, which asks for no certificate.
    gnutls_certificate_credentials_t credentials;
    char *name;
    uint8_t address[16];
    size_t address_length;
    uint8_t *pins;
    size_t pin_count;
} ts_expectation;

struct ts_session {
    gnutls_session_t session;
    ts_buffer received, pending;
    ts_expectation expected;
    ts_reason reason;
    int64_t reason_seconds;
    int error;
    // The alert for a certificate that was refused; -1 for the one that fits the error.
    int alert;
};

// Makes a session over the two buffers that offers `http/1.1`. NULL: no memory.
ts_session *ts_session_start(unsigned int flags, gnutls_priority_t priority,
                             gnutls_certificate_credentials_t credentials);

// Frees `expected`.
void ts_expectation_clear(ts_expectation *expected);

#endif

// The client side of TLS 1.3 and 1.2, and the check of the server's certificates.
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gnutls/x509.h>

// TLS 1.2 with forward secrecy and authenticated encryption alone; certificates of at least 112 bits of security.
static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
                               "+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD:%PROFILE_MEDIUM";

enum {
    // The longest message of a handshake; certificate chains of authorities have about 5000 bytes.
    MESSAGE_LIMIT = 64 * 1024,
    KEY_DIGEST_SIZE = 32,
};

struct ts_trust {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
};

static void refuse(ts_session *session, ts_reason reason, gnutls_alert_description_t alert) {
    session->reason = reason;
    session->alert = (int)alert;
}

// Finds the first certificate of the server that is out of date, and when it ended or begins.
static void find_time(ts_session *session, bool has_expired) {
    unsigned int count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session->session, &count);
    time_t now = time(NULL);
    for (unsigned int index = 0; index < count && session->reason_seconds == 0; index += 1) {
        gnutls_x509_crt_t certificate;
        if (gnutls_x509_crt_init(&certificate) < 0) return;
        if (gnutls_x509_crt_import(certificate, &chain[index], GNUTLS_X509_FMT_DER) >= 0) {
            time_t start = gnutls_x509_crt_get_activation_time(certificate);
            time_t end = gnutls_x509_crt_get_expiration_time(certificate);
            if (has_expired && end < now) session->reason_seconds = (int64_t)end;
            if (!has_expired && start > now) session->reason_seconds = (int64_t)start;
        }
        gnutls_x509_crt_deinit(certificate);
    }
}

static void judge(ts_session *session, unsigned int status) {
    if (status & GNUTLS_CERT_REVOKED) {
        refuse(session, TS_REASON_REVOKED, GNUTLS_A_CERTIFICATE_REVOKED);
    } else if (status & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNER_NOT_CA)) {
        refuse(session, TS_REASON_AUTHORITY, GNUTLS_A_UNKNOWN_CA);
    } else if (status & GNUTLS_CERT_EXPIRED) {
        refuse(session, TS_REASON_EXPIRED, GNUTLS_A_CERTIFICATE_EXPIRED);
        find_time(session, true);
    } else if (status & GNUTLS_CERT_NOT_ACTIVATED) {
        refuse(session, TS_REASON_NOT_YET_VALID, GNUTLS_A_CERTIFICATE_EXPIRED);
        find_time(session, false);
    } else if (status & GNUTLS_CERT_UNEXPECTED_OWNER) {
        refuse(session, TS_REASON_NAME, GNUTLS_A_BAD_CERTIFICATE);
    } else if (status & GNUTLS_CERT_INSECURE_ALGORITHM) {
        refuse(session, TS_REASON_WEAK, GNUTLS_A_BAD_CERTIFICATE);
    } else {
        refuse(session, TS_REASON_CERTIFICATE, GNUTLS_A_BAD_CERTIFICATE);
    }
}

// Whether a client may use a certificate with this key.
static bool is_pinned(const ts_expectation *expected, gnutls_x509_crt_t certificate) {
    uint8_t digest[KEY_DIGEST_SIZE];
    size_t size = sizeof(digest);
    if (gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, digest, &size) < 0) return false;
    if (size != sizeof(digest)) return false;
    for (size_t index = 0; index < expected->pin_count; index += 1)
        if (memcmp(expected->pins + index * KEY_DIGEST_SIZE, digest, KEY_DIGEST_SIZE) == 0) return true;
    return false;
}

// Whether the key of `issuer` signed the certificate, and `issuer` is an authority.
static bool is_issued(gnutls_x509_crt_t certificate, gnutls_x509_crt_t issuer) {
    unsigned int status = 0;
    return gnutls_x509_crt_check_issuer(certificate, issuer) != 0 &&
           gnutls_x509_crt_verify(certificate, &issuer, 1, 0, &status) >= 0 && status == 0;
}

// Whether the chain from the leaf, of which every step is a signature that was checked, has a pinned key.
static bool has_pinned_key(ts_session *session, gnutls_x509_crt_t *chain, unsigned int count) {
    gnutls_x509_trust_list_t trusted = NULL;
    gnutls_certificate_get_trust_list(session->expected.credentials, &trusted);
    gnutls_x509_crt_t current = chain[0];
    for (unsigned int step = 0; step <= count; step += 1) {
        if (is_pinned(&session->expected, current)) return true;
        gnutls_x509_crt_t issuer = NULL;
        for (unsigned int index = 1; index < count && issuer == NULL; index += 1)
            if (chain[index] != current && is_issued(current, chain[index])) issuer = chain[index];
        if (issuer == NULL) {
            gnutls_x509_crt_t root = NULL;
            // Without a copy, the root belongs to the list.
            if (gnutls_x509_trust_list_get_issuer(trusted, current, &root, 0) >= 0 && is_issued(current, root))
                return is_pinned(&session->expected, root);
            return false;
        }
        current = issuer;
    }
    return false;
}

static bool has_pin(ts_session *session) {
    unsigned int count = 0, made = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session->session, &count);
    if (chain == NULL || count == 0 || count > TS_CHAIN_LIMIT) return false;
    gnutls_x509_crt_t certificates[TS_CHAIN_LIMIT];
    bool is_read = true;
    while (is_read && made < count) {
        is_read = gnutls_x509_crt_init(&certificates[made]) >= 0;
        if (!is_read) break;
        made += 1;
        is_read = gnutls_x509_crt_import(certificates[made - 1], &chain[made - 1], GNUTLS_X509_FMT_DER) >= 0;
    }
    bool result = is_read && has_pinned_key(session, certificates, count);
    while (made > 0) gnutls_x509_crt_deinit(certificates[--made]);
    return result;
}

// Whether the leaf has host names: GnuTLS would compare the common name otherwise, which RFC 9110, section 4.3.4,
// forbids.
static bool has_host_name(ts_session *session) {
    unsigned int count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session->session, &count);
    gnutls_x509_crt_t leaf;
    if (chain == NULL || count == 0 || gnutls_x509_crt_init(&leaf) < 0) return false;
    bool result = false;
    if (gnutls_x509_crt_import(leaf, &chain[0], GNUTLS_X509_FMT_DER) >= 0) {
        int kind = 0;
        for (unsigned int index = 0; !result && kind != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE; index += 1) {
            char name[256];
            size_t size = sizeof(name);
            kind = gnutls_x509_crt_get_subject_alt_name(leaf, index, name, &size, NULL);
            if (kind < 0 && kind != GNUTLS_E_SHORT_MEMORY_BUFFER) break;
            result = kind == GNUTLS_SAN_DNSNAME;
        }
    }
    gnutls_x509_crt_deinit(leaf);
    return result;
}

// Called when the certificates of the server have arrived, before the handshake is complete.
static int verify(gnutls_session_t raw) {
    ts_session *session = gnutls_session_get_ptr(raw);
    ts_expectation *expected = &session->expected;
    gnutls_typed_vdata_st facts[2] = {
        {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_SERVER},
        {.type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)expected->name},
    };
    if (expected->name == NULL) {
        facts[1].type = GNUTLS_DT_IP_ADDRESS;
        facts[1].data = expected->address;
        facts[1].size = (unsigned)expected->address_length;
    }
    unsigned int status = 0;
    int result = gnutls_certificate_verify_peers(raw, facts, 2, &status);
    if (result < 0) {
        refuse(session, TS_REASON_CERTIFICATE, GNUTLS_A_BAD_CERTIFICATE);
        return GNUTLS_E_CERTIFICATE_ERROR;
    }
    if (status != 0)
        judge(session, status);
    else if (expected->name != NULL && !has_host_name(session))
        refuse(session, TS_REASON_NAME, GNUTLS_A_BAD_CERTIFICATE);
    else if (expected->pin_count > 0 && !has_pin(session))
        refuse(session, TS_REASON_PIN, GNUTLS_A_BAD_CERTIFICATE);
    return session->reason == TS_REASON_OTHER ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

static int load(ts_trust *trust, gnutls_datum_t roots) {
    int status = gnutls_certificate_allocate_credentials(&trust->credentials);
    if (status < 0) return status;
    if (roots.data == NULL)
        status = gnutls_certificate_set_x509_system_trust(trust->credentials);
    else
        status = gnutls_certificate_set_x509_trust_mem(trust->credentials, &roots, GNUTLS_X509_FMT_PEM);
    if (status == 0) return GNUTLS_E_NO_CERTIFICATE_FOUND;
    if (status < 0) return status;
    gnutls_certificate_set_verify_function(trust->credentials, verify);
    return gnutls_priority_init(&trust->priority, priority, NULL);
}

ts_trust *ts_trust_new(const uint8_t *roots, size_t length, char *why, size_t why_size) {
    ts_trust *trust = calloc(1, sizeof(*trust));
    int status = trust == NULL ? GNUTLS_E_MEMORY_ERROR : 0;
    if (status == 0) status = load(trust, (gnutls_datum_t){(unsigned char *)(uintptr_t)roots, (unsigned)length});
    if (status == 0) return trust;
    snprintf(why, why_size, "%s", gnutls_strerror(status));
    ts_trust_free(trust);
    return NULL;
}

void ts_trust_free(ts_trust *trust) {
    if (trust == NULL) return;
    if (trust->priority != NULL) gnutls_priority_deinit(trust->priority);
    if (trust->credentials != NULL) gnutls_certificate_free_credentials(trust->credentials);
    free(trust);
}

void ts_expectation_clear(ts_expectation *expected) {
    free(expected->name);
    free(expected->pins);
}

static bool expect(ts_session *session, const char *name, const uint8_t *address, size_t address_length,
                   const uint8_t *pins, size_t pin_count) {
    ts_expectation *expected = &session->expected;
    if (name != NULL) {
        expected->name = strdup(name);
        if (expected->name == NULL ||
            gnutls_server_name_set(session->session, GNUTLS_NAME_DNS, name, strlen(name)) < 0)
            return false;
    } else {
        if (address_length > sizeof(expected->address)) return false;
        memcpy(expected->address, address, address_length);
        expected->address_length = address_length;
    }
    if (pin_count == 0) return true;
    expected->pins = malloc(pin_count * KEY_DIGEST_SIZE);
    if (expected->pins == NULL) return false;
    memcpy(expected->pins, pins, pin_count * KEY_DIGEST_SIZE);
    expected->pin_count = pin_count;
    return true;
}

ts_session *ts_session_new_client(const ts_trust *trust, const char *name, const uint8_t *address,
                                  size_t address_length, const uint8_t *pins, size_t pin_count) {
    ts_session *session = ts_session_start(GNUTLS_CLIENT, trust->priority, trust->credentials);
    if (session == NULL) return NULL;
    session->expected.credentials = trust->credentials;
    gnutls_handshake_set_max_packet_length(session->session, MESSAGE_LIMIT);
    if (expect(session, name, address, address_length, pins, pin_count)) return session;
    ts_session_free(session);
    return NULL;
}

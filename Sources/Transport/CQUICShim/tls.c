// TLS 1.3 with GnuTLS: mutual, Ed25519 only, no resumption. Another TLS library needs a file with the same functions.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <gnutls/x509.h>

#include "internal.h"

const char *rq_tls_default_priority(void) {
    // In GnuTLS, ChaCha20 has a tenth of AES-GCM's speed, so it is last. Without -SIGN-ALL, a peer could authenticate with a
    // key that is not a peer key.
    return "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"
           "-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:-SIGN-ALL:+SIGN-EDDSA-ED25519:"
           "%SERVER_PRECEDENCE:%DISABLE_TLS13_COMPAT_MODE";
}

static gnutls_datum_t datum(rq_bytes bytes) {
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)bytes.base, (unsigned int)bytes.length};
}

// The raw key of an Ed25519 certificate.
static int raw_key(const gnutls_datum_t *certificate, uint8_t key[32]) {
    gnutls_x509_crt_t crt = NULL;
    gnutls_datum_t x = {NULL, 0};
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    int status = -1;
    if (gnutls_x509_crt_init(&crt) != 0) return -1;
    if (gnutls_x509_crt_import(crt, certificate, GNUTLS_X509_FMT_DER) == 0 &&
        gnutls_x509_crt_get_pk_algorithm(crt, NULL) == GNUTLS_PK_EDDSA_ED25519 &&
        gnutls_x509_crt_get_pk_ecc_raw(crt, &curve, &x, NULL) == 0 && curve == GNUTLS_ECC_CURVE_ED25519 &&
        x.size == 32) {
        memcpy(key, x.data, 32);
        status = 0;
    }
    gnutls_free(x.data);
    gnutls_x509_crt_deinit(crt);
    return status;
}

// The key is the identity: exactly one certificate with an Ed25519 key, and the caller must want that key. Dates and
// names decide nothing. (Whether the peer holds the private key is CertificateVerify's business, later.)
static int verify(gnutls_session_t session) {
    rq_conn *conn = gnutls_session_get_ptr(session);
    unsigned int count = 0;
    const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &count);
    uint8_t key[32];
    if (list == NULL || count != 1 || gnutls_certificate_type_get(session) != GNUTLS_CRT_X509) return -1;
    if (raw_key(&list[0], key) != 0) return -1;
    return conn->hooks->verify(conn->user, key) ? 0 : -1;
}

// GnuTLS's export function needs a live session and is not thread-safe. The exporter secret is only available through this
// callback; with it, the session can be freed early.
static int keep_exporter_secret(gnutls_session_t session, const char *label, const gnutls_datum_t *secret) {
    rq_conn *conn = gnutls_session_get_ptr(session);
    if (strcmp(label, "EXPORTER_SECRET") == 0 && secret->size <= RQ_MAX_EXPORTER_SECRET) {
        memcpy(conn->exporter, secret->data, secret->size);
        conn->exporter_length = (uint8_t)secret->size;
    }
    return 0;
}

static int load_certificates(rq_tls *tls, const rq_bytes *certificates, size_t count, rq_bytes key) {
    gnutls_x509_crt_t list[4];
    gnutls_x509_privkey_t private_key = NULL;
    size_t loaded = 0;
    int status = count > 4 ? GNUTLS_E_INVALID_REQUEST : 0;
    if (count == 0) return 0;
    for (; status == 0 && loaded < count; loaded++) {
        gnutls_datum_t der = datum(certificates[loaded]);
        status = gnutls_x509_crt_init(&list[loaded]);
        if (status != 0) break;
        status = gnutls_x509_crt_import(list[loaded], &der, GNUTLS_X509_FMT_DER);
    }
    if (status == 0) status = gnutls_x509_privkey_init(&private_key);
    if (status == 0) {
        gnutls_datum_t der = datum(key);
        status = gnutls_x509_privkey_import2(private_key, &der, GNUTLS_X509_FMT_DER, NULL, GNUTLS_PKCS_PLAIN);
    }
    if (status == 0) {
        status = gnutls_certificate_set_x509_key(tls->credentials, list, (int)count, private_key);
        if (status > 0) status = 0;
    }
    if (private_key != NULL) gnutls_x509_privkey_deinit(private_key);
    for (size_t i = 0; i < loaded; i++) gnutls_x509_crt_deinit(list[i]);
    return status;
}

rq_tls *rq_tls_new(const rq_bytes *certificates, size_t count, rq_bytes key, rq_bytes alpn, const char *priority,
                   char *why, size_t why_size) {
    rq_tls *tls = calloc(1, sizeof(*tls));
    int status = tls == NULL || alpn.length > sizeof(tls->alpn) ? GNUTLS_E_MEMORY_ERROR : 0;
    if (status == 0) {
        memcpy(tls->alpn, alpn.base, alpn.length);
        tls->alpn_length = (unsigned int)alpn.length;
        status = gnutls_certificate_allocate_credentials(&tls->credentials);
    }
    if (status == 0) status = load_certificates(tls, certificates, count, key);
    if (status == 0) {
        gnutls_certificate_set_verify_function(tls->credentials, verify);
        status = gnutls_priority_init(&tls->priority, priority, NULL);
    }
    if (status == 0) return tls;
    snprintf(why, why_size, "%s", gnutls_strerror(status));
    rq_tls_free(tls);
    return NULL;
}

void rq_tls_free(rq_tls *tls) {
    if (tls == NULL) return;
    if (tls->priority != NULL) gnutls_priority_deinit(tls->priority);
    if (tls->credentials != NULL) gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

int rq_tls_start(rq_conn *conn) {
    // No tickets: resumption would skip the certificate.
    unsigned int flags = GNUTLS_NO_TICKETS | GNUTLS_NO_AUTO_SEND_TICKET | GNUTLS_NO_END_OF_EARLY_DATA;
    gnutls_datum_t alpn = {(unsigned char *)(uintptr_t)conn->tls->alpn, conn->tls->alpn_length};
    if (gnutls_init(&conn->session, flags | (conn->is_server ? GNUTLS_SERVER : GNUTLS_CLIENT)) != 0) return -1;
    gnutls_session_set_ptr(conn->session, conn);
    if (gnutls_priority_set(conn->session, conn->tls->priority) != 0) return -1;
    if (gnutls_credentials_set(conn->session, GNUTLS_CRD_CERTIFICATE, conn->tls->credentials) != 0) return -1;
    if (gnutls_alpn_set_protocols(conn->session, &alpn, 1, GNUTLS_ALPN_MANDATORY) != 0) return -1;
    gnutls_session_set_keylog_function(conn->session, keep_exporter_secret);
    if (conn->is_server) gnutls_certificate_server_set_request(conn->session, GNUTLS_CERT_REQUIRE);
    int status = conn->is_server ? ngtcp2_crypto_gnutls_configure_server_session(conn->session)
                                 : ngtcp2_crypto_gnutls_configure_client_session(conn->session);
    if (status != 0) return -1;
    ngtcp2_conn_set_tls_native_handle(conn->engine, conn->session);
    return 0;
}

// After rq_conn_trim the peer can only send tickets, which we do not want.
int rq_tls_feed(ngtcp2_conn *engine, rq_level level, uint64_t offset, const uint8_t *data, size_t length, void *user) {
    rq_conn *conn = user;
    if (conn->session == NULL) return 0;
    return ngtcp2_crypto_recv_crypto_data_cb(engine, level, offset, data, length, user);
}

bool rq_tls_is_alpn_right(const rq_conn *conn) {
    gnutls_datum_t selected;
    return gnutls_alpn_get_selected_protocol(conn->session, &selected) == 0 &&
           selected.size == conn->tls->alpn_length && memcmp(selected.data, conn->tls->alpn, selected.size) == 0;
}

// HKDF-Expand-Label of RFC 8446, section 7.1.
static int expand_label(gnutls_mac_algorithm_t mac, const uint8_t *secret, size_t secret_length, rq_bytes label,
                        rq_bytes context, uint8_t *out, size_t out_length) {
    uint8_t info[2 + 1 + 255 + 1 + 255];
    size_t size = 0;
    if (label.length > 249 || context.length > 255 || out_length > 65535) return -1;
    info[size++] = (uint8_t)(out_length >> 8);
    info[size++] = (uint8_t)out_length;
    info[size++] = (uint8_t)(6 + label.length);
    memcpy(info + size, "tls13 ", 6);
    size += 6;
    memcpy(info + size, label.base, label.length);
    size += label.length;
    info[size++] = (uint8_t)context.length;
    memcpy(info + size, context.base, context.length);
    size += context.length;
    gnutls_datum_t key = {(unsigned char *)(uintptr_t)secret, (unsigned int)secret_length};
    gnutls_datum_t information = {info, (unsigned int)size};
    return gnutls_hkdf_expand(mac, &key, &information, out, out_length);
}

int rq_export(const uint8_t *secret, size_t secret_length, rq_bytes label, uint8_t *out, size_t out_length) {
    // The hash of the cipher suite, identified by its length: SHA-256 or SHA-384.
    gnutls_mac_algorithm_t mac = secret_length == 48 ? GNUTLS_MAC_SHA384 : GNUTLS_MAC_SHA256;
    gnutls_digest_algorithm_t digest = secret_length == 48 ? GNUTLS_DIG_SHA384 : GNUTLS_DIG_SHA256;
    static const uint8_t exporter[] = "exporter";
    uint8_t empty[RQ_MAX_EXPORTER_SECRET], derived[RQ_MAX_EXPORTER_SECRET];
    if (secret_length != 32 && secret_length != 48) return RQ_FAILED;
    if (gnutls_hash_fast(digest, "", 0, empty) != 0) return RQ_FAILED;
    rq_bytes nothing = {empty, secret_length};
    if (expand_label(mac, secret, secret_length, label, nothing, derived, secret_length) != 0) return RQ_FAILED;
    rq_bytes name = {exporter, sizeof(exporter) - 1};
    int status = expand_label(mac, derived, secret_length, name, nothing, out, out_length);
    gnutls_memset(derived, 0, sizeof(derived));
    return status == 0 ? RQ_OK : RQ_FAILED;
}

void rq_random(uint8_t *out, size_t length) {
    // Failing randomness leaves nothing that would be safe to do.
    if (gnutls_rnd(GNUTLS_RND_RANDOM, out, length) != 0) abort();
}

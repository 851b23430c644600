// The server side of TLS 1.3.
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include <gnutls/x509.h>

static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:%SERVER_PRECEDENCE";

struct ts_identity {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
};

// GnuTLS copies the certificates and the key.
static int load_chain(ts_identity *identity, gnutls_x509_crt_t *chain, size_t count, gnutls_datum_t key) {
    gnutls_x509_privkey_t private_key;
    int status = gnutls_x509_privkey_init(&private_key);
    if (status < 0) return status;
    status = gnutls_x509_privkey_import2(private_key, &key, GNUTLS_X509_FMT_DER, NULL, 0);
    if (status >= 0)
        status = gnutls_certificate_set_x509_key(identity->credentials, chain, (int)count, private_key);
    gnutls_x509_privkey_deinit(private_key);
    return status;
}

static int load(ts_identity *identity, const uint8_t *certificates, const size_t *lengths, size_t count,
                gnutls_datum_t key) {
    int status = gnutls_certificate_allocate_credentials(&identity->credentials);
    if (status < 0) return status;
    if (count == 0 || count > TS_CHAIN_LIMIT) return GNUTLS_E_INVALID_REQUEST;
    gnutls_x509_crt_t chain[TS_CHAIN_LIMIT];
    size_t made = 0;
    while (status >= 0 && made < count) {
        const gnutls_datum_t der = {(unsigned char *)(uintptr_t)certificates, (unsigned)lengths[made]};
        status = gnutls_x509_crt_init(&chain[made]);
        if (status < 0) break;
        status = gnutls_x509_crt_import(chain[made], &der, GNUTLS_X509_FMT_DER);
        certificates += lengths[made];
        made += 1;
    }
    if (status >= 0) status = load_chain(identity, chain, count, key);
    while (made > 0) gnutls_x509_crt_deinit(chain[--made]);
    return status < 0 ? status : gnutls_priority_init(&identity->priority, priority, NULL);
}

ts_identity *ts_identity_new(const uint8_t *certificates, const size_t *lengths, size_t count, const uint8_t *key,
                             size_t key_length, char *why, size_t why_size) {
    ts_identity *identity = calloc(1, sizeof(*identity));
    int status = identity == NULL ? GNUTLS_E_MEMORY_ERROR : 0;
    if (status == 0)
        status = load(identity, certificates, lengths, count,
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
    ts_session *session = ts_session_start(GNUTLS_SERVER, identity->priority, identity->credentials);
    if (session != NULL) gnutls_certificate_server_set_request(session->session, GNUTLS_CERT_IGNORE);
    return session;
}

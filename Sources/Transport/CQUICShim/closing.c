// The CONNECTION_CLOSE of a connection, and the reason why it ended.
#include <string.h>

#include "internal.h"


size_t rq_conn_close_packet(rq_conn *conn, bool is_application, uint64_t code, rq_bytes reason, uint64_t now,
                            uint8_t *out, size_t size) {
    ngtcp2_path_storage storage;
    ngtcp2_pkt_info info;
    ngtcp2_path_storage_zero(&storage);
    if (is_application && !conn->has_error) {
        rq_ccerr_application(&conn->error, code, reason.base, reason.length);
    }
    ngtcp2_ssize written = ngtcp2_conn_write_connection_close(conn->engine, &storage.path, &info, out, size,
                                                              &conn->error, rq_clamp(conn, now));
    return written > 0 ? (size_t)written : 0;
}

void rq_conn_close_info(const rq_conn *conn, rq_close_info *info) {
    memset(info, 0, sizeof(*info));
    info->is_local = conn->has_error;
    const rq_ccerr *error = &conn->error;
#if RQ_NGTCP2_1
    if (!conn->has_error) error = ngtcp2_conn_get_ccerr(conn->engine);
#else
    rq_ccerr theirs;
    rq_ccerr_default(&theirs);
    if (!conn->has_error) {
        ngtcp2_conn_get_connection_close_error(conn->engine, &theirs);
        error = &theirs;
    }
#endif
    info->code = error->error_code;
    info->kind = error->type == RQ_CCERR_APPLICATION ? RQ_CLOSED_APPLICATION : RQ_CLOSED_TRANSPORT;
    if (info->kind == RQ_CLOSED_TRANSPORT && (error->error_code & ~(uint64_t)0xff) == NGTCP2_CRYPTO_ERROR) {
        info->kind = RQ_CLOSED_TLS_ALERT;
        info->code = error->error_code & 0xff;
    }
    info->reason_length = (uint16_t)(error->reasonlen > sizeof(info->reason) ? sizeof(info->reason) : error->reasonlen);
    if (info->reason_length > 0) memcpy(info->reason, error->reason, info->reason_length);
}

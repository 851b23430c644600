// ngtcp2's callbacks while it processes a packet. None of them calls ngtcp2 except for extend_*, which it permits: streams
// are added to the touched list, which the caller drains after the packet.
#include <string.h>

#include "internal.h"

static void random_bytes(uint8_t *out, size_t length, const ngtcp2_rand_ctx *context) {
    (void)context;
    rq_random(out, length);
    // ngtcp2 takes the lowest bit of a single byte to decide whether to clear the fixed bit towards peers that allow it. It
    // stays set, so that a device on the path can distinguish the packets from STUN. (BBR requests single bytes too, and
    // takes them as fractions.)
    if (length == 1) out[0] &= 0xfe;
}

static rq_cid to_cid(const ngtcp2_cid *cid) {
    rq_cid out = {(uint8_t)cid->datalen, {0}};
    memcpy(out.bytes, cid->data, cid->datalen);
    return out;
}

static int new_connection_id(ngtcp2_conn *engine, ngtcp2_cid *cid, uint8_t *token, size_t length, void *user) {
    (void)engine;
    rq_conn *conn = user;
    uint8_t bytes[NGTCP2_MAX_CIDLEN];
    rq_random(bytes, length);
    ngtcp2_cid_init(cid, bytes, length);
    if (ngtcp2_crypto_generate_stateless_reset_token(token, conn->secret, sizeof(conn->secret), cid) != 0) {
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    rq_cid ours = to_cid(cid);
    conn->hooks->cid_added(conn->user, &ours);
    return 0;
}

static int remove_connection_id(ngtcp2_conn *engine, const ngtcp2_cid *cid, void *user) {
    (void)engine;
    rq_conn *conn = user;
    rq_cid ours = to_cid(cid);
    conn->hooks->cid_removed(conn->user, &ours);
    return 0;
}

static int handshake_completed(ngtcp2_conn *engine, void *user) {
    (void)engine;
    rq_conn *conn = user;
    // A server without ALPN would pass GnuTLS's own check on the client's side.
    if (!rq_tls_is_alpn_right(conn)) {
        ngtcp2_conn_set_tls_alert(conn->engine, 120);
        return NGTCP2_ERR_CALLBACK_FAILURE;
    }
    conn->is_completed = true;
    // HANDSHAKE_DONE is the server's to send, so that completed is confirmed there (RFC 9001, section 4.1.2).
    if (conn->is_server) conn->is_confirmed = true;
    return 0;
}

static int handshake_confirmed(ngtcp2_conn *engine, void *user) {
    (void)engine;
    ((rq_conn *)user)->is_confirmed = true;
    return 0;
}

static int stream_open(ngtcp2_conn *engine, int64_t id, void *user) {
    rq_conn *conn = user;
    rq_stream *stream = rq_stream_make(conn, id);
    if (stream == NULL) return NGTCP2_ERR_CALLBACK_FAILURE;
    if (conn->streams_left > 0) conn->streams_left--;
    rq_conn_grant_streams(conn);
    stream->user = conn->hooks->stream_opened(conn->user, stream);
    if (ngtcp2_conn_set_stream_user_data(engine, id, stream) != 0) return NGTCP2_ERR_CALLBACK_FAILURE;
    return 0;
}

static int recv_stream_data(ngtcp2_conn *engine, uint32_t flags, int64_t id, uint64_t offset, const uint8_t *data,
                            size_t length, void *user, void *stream_user) {
    (void)id, (void)offset, (void)user;
    rq_stream *stream = stream_user;
    if (stream == NULL || stream->is_read_closed) {
        // No reader is left; return the credit, or the connection's window shrinks.
        ngtcp2_conn_extend_max_offset(engine, length);
        return 0;
    }
    if (length > 0) stream->conn->hooks->stream_data(stream->user, data, length);
    if ((flags & NGTCP2_STREAM_DATA_FLAG_FIN) == 0) rq_stream_widen(stream);
    rq_touch(stream, RQ_EVENT_DATA | ((flags & NGTCP2_STREAM_DATA_FLAG_FIN) ? RQ_EVENT_FIN : 0));
    return 0;
}

static int acked_stream_data(ngtcp2_conn *engine, int64_t id, uint64_t offset, uint64_t length, void *user,
                             void *stream_user) {
    (void)engine, (void)id, (void)offset, (void)user;
    if (stream_user != NULL) rq_stream_acked(stream_user, length);
    return 0;
}

static int extend_max_stream_data(ngtcp2_conn *engine, int64_t id, uint64_t maximum, void *user, void *stream_user) {
    (void)engine, (void)id, (void)maximum, (void)user;
    if (stream_user != NULL) rq_stream_unblock(stream_user);
    return 0;
}

static int stream_close(ngtcp2_conn *engine, uint32_t flags, int64_t id, uint64_t code, void *user,
                        void *stream_user) {
    (void)user;
    rq_stream *stream = stream_user;
    if (stream == NULL) {
        if (!ngtcp2_conn_is_local_stream(engine, id)) rq_conn_allow_stream(user);
        return 0;
    }
    stream->is_closed = true;
    // STOP_SENDING has no callback; its code is the error code of the closed stream, unless a write failed with it before.
    bool was_stopped = (flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET) != 0;
    if (was_stopped) stream->code = code;
    rq_touch(stream, RQ_EVENT_CLOSED | (was_stopped ? RQ_EVENT_STOP : 0));
    return 0;
}

static int stream_reset(ngtcp2_conn *engine, int64_t id, uint64_t size, uint64_t code, void *user, void *stream_user) {
    (void)engine, (void)id, (void)size, (void)user;
    rq_stream *stream = stream_user;
    if (stream == NULL) return 0;
    stream->code = code;
    rq_touch(stream, RQ_EVENT_RESET);
    return 0;
}

static int path_validation(ngtcp2_conn *engine, uint32_t flags, const ngtcp2_path *path,
#if RQ_NGTCP2_1
                           const ngtcp2_path *old_path,
#endif
                           ngtcp2_path_validation_result result, void *user) {
    (void)engine, (void)flags;
#if RQ_NGTCP2_1
    (void)old_path;
#endif
    rq_conn *conn = user;
    ru_addr remote;
    ru_addr_from_system(&remote, path->remote.addr);
    if (ru_addr_equal(&remote, &conn->next_remote)) conn->is_validating = false;
    if (result == NGTCP2_PATH_VALIDATION_RESULT_SUCCESS) return 0;
    conn->refused_remote = remote;
    conn->has_refused_path = true;
    return 0;
}

void rq_callbacks_fill(ngtcp2_callbacks *callbacks, bool is_server) {
    memset(callbacks, 0, sizeof(*callbacks));
    if (is_server) {
        callbacks->recv_client_initial = ngtcp2_crypto_recv_client_initial_cb;
    } else {
        callbacks->client_initial = ngtcp2_crypto_client_initial_cb;
        callbacks->recv_retry = ngtcp2_crypto_recv_retry_cb;
        callbacks->handshake_confirmed = handshake_confirmed;
    }
    callbacks->recv_crypto_data = rq_tls_feed;
    callbacks->handshake_completed = handshake_completed;
    callbacks->encrypt = ngtcp2_crypto_encrypt_cb;
    callbacks->decrypt = ngtcp2_crypto_decrypt_cb;
    callbacks->hp_mask = ngtcp2_crypto_hp_mask_cb;
    callbacks->update_key = ngtcp2_crypto_update_key_cb;
    callbacks->delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb;
    callbacks->delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb;
    callbacks->get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb;
    callbacks->version_negotiation = ngtcp2_crypto_version_negotiation_cb;
    callbacks->path_validation = path_validation;
    callbacks->rand = random_bytes;
    callbacks->get_new_connection_id = new_connection_id;
    callbacks->remove_connection_id = remove_connection_id;
    callbacks->recv_stream_data = recv_stream_data;
    callbacks->acked_stream_data_offset = acked_stream_data;
    callbacks->extend_max_stream_data = extend_max_stream_data;
    callbacks->stream_open = stream_open;
    callbacks->stream_close = stream_close;
    callbacks->stream_reset = stream_reset;
}

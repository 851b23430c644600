// One connection: made, fed with packets, asked for packets, closed.
#include <stdlib.h>
#include <string.h>

#include "internal.h"

// How soon further blocked streams try again.
static const uint64_t RQ_RETRY_NANOSECONDS = NGTCP2_MILLISECONDS;

static ngtcp2_conn *engine_of(ngtcp2_crypto_conn_ref *ref) { return ((rq_conn *)(void *)ref)->engine; }

static ngtcp2_cid from_cid(const rq_cid *cid) {
    ngtcp2_cid out;
    ngtcp2_cid_init(&out, cid->bytes, cid->length);
    return out;
}

static rq_conn *make(const rq_tls *tls, const rq_options *options, const rq_hooks *hooks, void *user, uint64_t now) {
    rq_conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL) return NULL;
    conn->ref.get_conn = engine_of;
    conn->ref.user_data = conn;
    conn->tls = tls;
    conn->hooks = hooks;
    conn->user = user;
    conn->last_now = now;
    conn->expiry = now;
    conn->confirm_by = options->handshake_timeout < UINT64_MAX - now ? now + options->handshake_timeout : UINT64_MAX;
    conn->keep_alive = options->keep_alive;
    conn->initial = options->initial;
    conn->full = options->full;
    conn->is_extended = memcmp(&conn->initial, &conn->full, sizeof(conn->full)) == 0;
    conn->streams_left = options->initial.max_streams;
    memcpy(conn->secret, options->secret, sizeof(conn->secret));
    rq_ccerr_default(&conn->error);
    return conn;
}

static void fill_settings(ngtcp2_settings *settings, const rq_options *options, uint64_t now) {
    ngtcp2_settings_default(settings);
    settings->initial_ts = now;
    settings->handshake_timeout = options->handshake_timeout;
    settings->cc_algo = options->congestion == RQ_BBR    ? NGTCP2_CC_ALGO_BBR
                        : options->congestion == RQ_RENO ? NGTCP2_CC_ALGO_RENO
                                                         : NGTCP2_CC_ALGO_CUBIC;
}

static void fill_params(ngtcp2_transport_params *params, const rq_options *options) {
    ngtcp2_transport_params_default(params);
    // On streams of ours the window of the connection is bound enough, as this side decides how many there are.
    params->initial_max_stream_data_bidi_local = options->full.stream_window;
    params->initial_max_stream_data_bidi_remote = options->initial.stream_window;
    params->initial_max_data = options->initial.connection_window;
    params->initial_max_streams_bidi = options->initial.max_streams;
    params->initial_max_streams_uni = 0;
    params->max_idle_timeout = options->idle_timeout;
    params->active_connection_id_limit = 7;
}

// The fixed bit distinguishes QUIC from STUN on the shared socket, so no peer may be allowed to clear it (RFC 9287). ngtcp2
// sets grease_quic_bit regardless of the caller's parameters. The const pointer refers to ngtcp2's own parameters, which are
// not encoded yet.
static void never_grease(ngtcp2_conn *engine) {
    ngtcp2_transport_params *params =
        (ngtcp2_transport_params *)(uintptr_t)ngtcp2_conn_get_local_transport_params(engine);
    params->grease_quic_bit = 0;
}

rq_conn *rq_conn_dial(const rq_tls *tls, const rq_options *options, const rq_hooks *hooks, void *user,
                      const ru_addr *local, const ru_addr *remote, uint64_t now) {
    rq_conn *conn = make(tls, options, hooks, user, now);
    ngtcp2_callbacks callbacks;
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_sockaddr_union from, to;
    ngtcp2_path path;
    rq_cid ours = {RQ_CID_LENGTH, {0}}, theirs = {18, {0}};
    if (conn == NULL) return NULL;
    rq_random(ours.bytes, ours.length);
    rq_random(theirs.bytes, theirs.length);
    ngtcp2_cid scid = from_cid(&ours), dcid = from_cid(&theirs);
    rq_callbacks_fill(&callbacks, false);
    fill_settings(&settings, options, now);
    fill_params(&params, options);
    rq_path_set(&path, &from, local, &to, remote);
    if (ngtcp2_conn_client_new(&conn->engine, &dcid, &scid, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings, &params,
                               NULL, conn) != 0) {
        free(conn);
        return NULL;
    }
    never_grease(conn->engine);
    if (rq_tls_start(conn) != 0) {
        rq_conn_free(conn);
        return NULL;
    }
    hooks->cid_added(user, &ours);
    return conn;
}

rq_conn *rq_conn_accept(const rq_tls *tls, const rq_options *options, const rq_hooks *hooks, void *user,
                        const rq_initial *initial, const ru_addr *local, const ru_addr *remote, uint64_t now) {
    rq_conn *conn = make(tls, options, hooks, user, now);
    ngtcp2_callbacks callbacks;
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_sockaddr_union from, to;
    ngtcp2_path path;
    rq_cid ours = {RQ_CID_LENGTH, {0}};
    if (conn == NULL) return NULL;
    conn->is_server = true;
    rq_random(ours.bytes, ours.length);
    ngtcp2_cid scid = from_cid(&ours), dcid = from_cid(&initial->source);
    rq_callbacks_fill(&callbacks, true);
    fill_settings(&settings, options, now);
    fill_params(&params, options);
    params.original_dcid = from_cid(initial->is_validated ? &initial->original : &initial->destination);
#if RQ_NGTCP2_1
    params.original_dcid_present = 1; // compiles without, and asserts when run
#endif
    if (initial->is_validated) {
        params.retry_scid = from_cid(&initial->destination);
        params.retry_scid_present = 1;
#if RQ_NGTCP2_1
        settings.token = initial->token;
        settings.tokenlen = initial->token_length;
        settings.token_type = NGTCP2_TOKEN_TYPE_RETRY;
#else
        settings.token.base = (uint8_t *)(uintptr_t)initial->token;
        settings.token.len = initial->token_length;
#endif
    }
    params.stateless_reset_token_present = 1;
    rq_path_set(&path, &from, local, &to, remote);
    if (ngtcp2_crypto_generate_stateless_reset_token(params.stateless_reset_token, conn->secret, sizeof(conn->secret),
                                                     &scid) != 0 ||
        ngtcp2_conn_server_new(&conn->engine, &dcid, &scid, &path, initial->version, &callbacks, &settings, &params,
                               NULL, conn) != 0) {
        free(conn);
        return NULL;
    }
    never_grease(conn->engine);
    if (rq_tls_start(conn) != 0) {
        rq_conn_free(conn);
        return NULL;
    }
    hooks->cid_added(user, &ours);
    hooks->cid_added(user, &initial->destination);
    return conn;
}

void rq_conn_free(rq_conn *conn) {
    if (conn == NULL) return;
    while (conn->streams != NULL) rq_stream_free(conn->streams);
    if (conn->engine != NULL) ngtcp2_conn_del(conn->engine);
    if (conn->session != NULL) gnutls_deinit(conn->session);
    gnutls_memset(conn->exporter, 0, sizeof(conn->exporter));
    free(conn);
}

// A peer respects the limit of connection IDs that it received. ngtcp2 compares that limit with the number of stored IDs,
// and while paths are abandoned and used again it counts some that the peer has retired: it would close the connection with
// CONNECTION_ID_LIMIT. The advertised limit has been encoded long before, and ngtcp2 drops IDs beyond its capacity of eight.
static void allow_more_ids(ngtcp2_conn *engine) {
    ngtcp2_transport_params *params =
        (ngtcp2_transport_params *)(uintptr_t)ngtcp2_conn_get_local_transport_params(engine);
    params->active_connection_id_limit = 16;
}

void rq_conn_trim(rq_conn *conn) {
    if (conn->session == NULL || !conn->is_confirmed) return;
    ngtcp2_conn_set_tls_native_handle(conn->engine, NULL);
    gnutls_deinit(conn->session);
    conn->session = NULL;
    allow_more_ids(conn->engine);
    if (conn->keep_alive > 0) ngtcp2_conn_set_keep_alive_timeout(conn->engine, conn->keep_alive);
}

void rq_conn_keep_alive_now(rq_conn *conn, bool is_now) {
    ngtcp2_conn_set_keep_alive_timeout(conn->engine, is_now ? 1 : conn->keep_alive);
}

// ngtcp2's result in our words; the error for CONNECTION_CLOSE is kept on the way.
static int evaluate(rq_conn *conn, int status) {
    switch (status) {
    case 0: return RQ_OK;
    case NGTCP2_ERR_DRAINING: return RQ_DRAINING;
    case NGTCP2_ERR_CLOSING: return RQ_OK;
    case NGTCP2_ERR_DROP_CONN: return RQ_DROP;
    case NGTCP2_ERR_RETRY: return RQ_RETRY;
    case NGTCP2_ERR_IDLE_CLOSE: return RQ_IDLE;
    case NGTCP2_ERR_HANDSHAKE_TIMEOUT: return RQ_HANDSHAKE_TIMEOUT;
    case NGTCP2_ERR_RECV_VERSION_NEGOTIATION: return RQ_DROP;
    default: break;
    }
    if (!conn->has_error) {
        conn->has_error = true;
        if (status == NGTCP2_ERR_CRYPTO || (status == NGTCP2_ERR_CALLBACK_FAILURE && !conn->is_completed)) {
            rq_ccerr_alert(&conn->error, ngtcp2_conn_get_tls_alert(conn->engine), NULL, 0);
        } else {
            rq_ccerr_liberr(&conn->error, status, NULL, 0);
        }
    }
    return RQ_CLOSE;
}

static _Thread_local bool is_inside;

bool rq_is_inside(void) { return is_inside; }

// ngtcp2 must not be called from its own callbacks, but does not detect it.
static void enter(void) {
    if (is_inside) abort();
    is_inside = true;
}

static void leave(void) { is_inside = false; }

static int handle_expiry(rq_conn *conn) {
    enter();
    int status = ngtcp2_conn_handle_expiry(conn->engine, conn->last_now);
    leave();
    return status;
}

int rq_conn_read(rq_conn *conn, const ru_incoming *batch, const uint8_t *bytes, size_t length, uint64_t now) {
    ngtcp2_sockaddr_union from, to;
    ngtcp2_path path;
    ngtcp2_pkt_info info = {batch->ecn};
    ru_addr local = batch->destination;
    if (conn->alias_port != 0 && local.port == conn->port && ru_addr_equal(&batch->source, &conn->alias_remote)) {
        local.port = conn->alias_port;
    }
    rq_path_set(&path, &from, &local, &to, &batch->source);
    enter();
    int status = ngtcp2_conn_read_pkt(conn->engine, &path, &info, bytes, length, rq_clamp(conn, now));
    leave();
    conn->expiry = 0;
    conn->has_heard = true;
    if (status == 0) conn->silent_timeouts = 0;
    return evaluate(conn, status);
}

// Writes the next packet with frames of as many streams as fit.
static ngtcp2_ssize fill_packet(rq_conn *conn, ngtcp2_path *path, ngtcp2_pkt_info *info, uint8_t *out, size_t size) {
    ngtcp2_vec vectors[16];
    for (;;) {
        rq_stream *stream = conn->send_first;
        uint64_t total = 0;
        size_t count = stream != NULL ? rq_stream_gather(stream, vectors, 16, &total) : 0;
        bool finish = stream != NULL && stream->has_finish && !stream->sent_finish && total == stream->left;
        uint32_t flags = (stream != NULL ? NGTCP2_WRITE_STREAM_FLAG_MORE : 0) |
                         (finish ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0);
        ngtcp2_ssize taken = -1;
        enter();
        ngtcp2_ssize written =
            ngtcp2_conn_writev_stream(conn->engine, path, info, out, size, &taken, flags,
                                      stream != NULL ? stream->id : -1, vectors, count, conn->last_now);
        leave();
        if (stream == NULL) return written;
        bool is_done = written == NGTCP2_ERR_STREAM_SHUT_WR || written == NGTCP2_ERR_STREAM_NOT_FOUND;
        if (written == NGTCP2_ERR_STREAM_DATA_BLOCKED) rq_stream_block(stream);
        else if (is_done) {
            rq_stream_drop_queue(stream);
            rq_touch(stream, RQ_EVENT_STOP);
        }
        else if (written < 0 && written != NGTCP2_ERR_WRITE_MORE) return written;
        else if (taken >= 0) rq_stream_sent(stream, (uint64_t)taken, finish && (uint64_t)taken == total);
        // Streams are served round-robin.
        if (!is_done && taken >= 0) rq_stream_requeue(stream);
        if (written >= 0) return written;
    }
}

static void transmit(rq_conn *conn, const ru_outgoing *batch, ru_udp *ipv4, ru_udp *ipv6) {
    if (batch->length == 0) return;
    ru_udp *udp = batch->remote.family == 6 ? ipv6 : ipv4;
    bool is_plain = udp != NULL && !rq_addr_is_channel(&batch->remote) && batch->local.port == ru_udp_address(udp)->port;
    if (!is_plain) {
        if (conn->hooks->transmit(conn->user, batch) != RQ_OK) conn->send_errors++;
        return;
    }
    if (udp == NULL || ru_udp_send(udp, &batch->local, &batch->remote, batch->ecn, batch->bytes, batch->length,
                                   batch->segment) != 0) {
        conn->send_errors++;
    }
}

// One pass. The pacing timer counts only while something waits: a wake-up after each small message would buy nothing.
static void settle(rq_conn *conn, bool has_sent) {
    uint64_t now = conn->last_now;
    conn->expiry = ngtcp2_conn_get_expiry(conn->engine);
    if (conn->expiry <= now && conn->send_first == NULL && conn->has_paced) {
        conn->has_paced = false;
        if (handle_expiry(conn) == 0) conn->expiry = ngtcp2_conn_get_expiry(conn->engine);
    }
    // Before that, 0.12 would pace at its guess of 333 ms and hold the handshake up by 21 ms.
    if (!has_sent || !conn->is_confirmed) return;
    ngtcp2_conn_update_pkt_tx_time(conn->engine, now);
    conn->has_paced = true;
    if (conn->send_first != NULL) conn->expiry = ngtcp2_conn_get_expiry(conn->engine);
}

int rq_conn_send(rq_conn *conn, ru_udp *ipv4, ru_udp *ipv6, uint64_t now) {
    static _Thread_local uint8_t buffer[RU_GSO_BYTES + 2048];
    ngtcp2_path_storage storage;
    ngtcp2_pkt_info info = {0};
    ru_outgoing batch = {0};
    int status = RQ_OK;
    bool has_sent = false;
    rq_clamp(conn, now);
    rq_conn_open_waiting(conn);
    rq_conn_retry_blocked(conn);
    size_t size = rq_conn_packet_size(conn);
    size_t quantum = ngtcp2_conn_get_send_quantum(conn->engine), sent = 0;
    if (quantum > RU_GSO_BYTES) quantum = RU_GSO_BYTES;
    ngtcp2_path_storage_zero(&storage);
    if ((ipv4 != NULL && ru_udp_is_blocked(ipv4)) || (ipv6 != NULL && ru_udp_is_blocked(ipv6))) return RQ_BLOCKED;
    while (sent == 0 || sent + size <= quantum) {
        uint8_t *out = buffer + sent;
        if (out + size > buffer + sizeof(buffer)) break;
        ngtcp2_ssize written = fill_packet(conn, &storage.path, &info, out, size);
        if (written < 0) status = evaluate(conn, (int)written);
        if (written <= 0) break;
        has_sent = true;
        sent += (size_t)written;
        ru_outgoing packet = {.ecn = (uint8_t)info.ecn, .bytes = out, .length = (size_t)written};
        packet.segment = packet.length;
        // ngtcp2 chooses the path of each packet: path challenges do not use the connection's path.
        ru_addr_from_system(&packet.local, storage.path.local.addr);
        ru_addr_from_system(&packet.remote, storage.path.remote.addr);
        if (ru_outgoing_takes(&batch, &packet)) {
            batch.length += packet.length;
        } else {
            transmit(conn, &batch, ipv4, ipv6);
            batch = packet;
        }
    }
    transmit(conn, &batch, ipv4, ipv6);
    if (status != RQ_OK) return status;
    settle(conn, has_sent);
    if (conn->retries > 0 && conn->expiry > conn->last_now + RQ_RETRY_NANOSECONDS) {
        conn->expiry = conn->last_now + RQ_RETRY_NANOSECONDS;
    }
    return RQ_OK;
}

// ngtcp2's handshake timeout ends once a client has completed the handshake, although the server may have failed since.
uint64_t rq_conn_expiry(const rq_conn *conn) {
    return !conn->is_confirmed && conn->confirm_by < conn->expiry ? conn->confirm_by : conn->expiry;
}

int rq_conn_expire(rq_conn *conn, uint64_t now) {
    if (!conn->is_confirmed && rq_clamp(conn, now) >= conn->confirm_by) return RQ_HANDSHAKE_TIMEOUT;
    rq_clamp(conn, now);
    if (conn->is_confirmed) rq_conn_count_timeout(conn);
    return evaluate(conn, handle_expiry(conn));
}

bool rq_conn_is_confirmed(const rq_conn *conn) { return conn->is_confirmed; }

void rq_conn_remote_address(const rq_conn *conn, ru_addr *remote) {
    ru_addr_from_system(remote, ngtcp2_conn_get_path(conn->engine)->remote.addr);
}

void rq_conn_local_address(const rq_conn *conn, ru_addr *local) {
    ru_addr_from_system(local, ngtcp2_conn_get_path(conn->engine)->local.addr);
}

size_t rq_conn_exporter_secret(const rq_conn *conn, uint8_t out[RQ_MAX_EXPORTER_SECRET]) {
    memcpy(out, conn->exporter, conn->exporter_length);
    return conn->exporter_length;
}

uint32_t rq_conn_take_send_errors(rq_conn *conn) {
    uint32_t errors = conn->send_errors;
    conn->send_errors = 0;
    return errors;
}

// Declarations that the files of the shim share.
#ifndef RQ_INTERNAL_H
#define RQ_INTERNAL_H

#include <netinet/in.h>
#include <sys/socket.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#include "cquicshim.h"

// ngtcp2 0.12 (Debian 12) and 1.x differ only in names, in the functions used here.
#if NGTCP2_VERSION_NUM >= 0x010000
#define RQ_NGTCP2_1 1
typedef ngtcp2_encryption_level rq_level;
typedef ngtcp2_ccerr rq_ccerr;
#define RQ_LEVEL_1RTT NGTCP2_ENCRYPTION_LEVEL_1RTT
#define rq_ccerr_default ngtcp2_ccerr_default
#define rq_ccerr_liberr ngtcp2_ccerr_set_liberr
#define rq_ccerr_alert ngtcp2_ccerr_set_tls_alert
#define rq_ccerr_application ngtcp2_ccerr_set_application_error
#define rq_ccerr_transport ngtcp2_ccerr_set_transport_error
#define RQ_CCERR_APPLICATION NGTCP2_CCERR_TYPE_APPLICATION
#else
#define RQ_NGTCP2_1 0
typedef ngtcp2_crypto_level rq_level;
typedef ngtcp2_connection_close_error rq_ccerr;
#define RQ_LEVEL_1RTT NGTCP2_CRYPTO_LEVEL_APPLICATION
#define rq_ccerr_default ngtcp2_connection_close_error_default
#define rq_ccerr_liberr ngtcp2_connection_close_error_set_transport_error_liberr
#define rq_ccerr_alert ngtcp2_connection_close_error_set_transport_error_tls_alert
#define rq_ccerr_application ngtcp2_connection_close_error_set_application_error
#define rq_ccerr_transport ngtcp2_connection_close_error_set_transport_error
#define RQ_CCERR_APPLICATION NGTCP2_CONNECTION_CLOSE_ERROR_CODE_TYPE_APPLICATION
#endif

struct rq_tls {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
    uint8_t alpn[32];
    unsigned int alpn_length;
};

// A run of bytes that waits to be sent or acknowledged. Small ones live in the chunk itself.
typedef struct rq_chunk {
    struct rq_chunk *next;
    const uint8_t *base;
    size_t length;
    void *owner;
    uint8_t inlined[];
} rq_chunk;

struct rq_stream {
    rq_conn *conn;
    int64_t id; // -1 until the peer allows it
    void *user;
    rq_stream *previous, *next;         // all streams of the connection
    rq_stream *previous_to_send, *next_to_send; // the send queue, or of those that wait for an id or for credit
    rq_stream *next_touched;
    rq_chunk *first, *last;             // not acknowledged
    rq_chunk *unsent;                   // the first chunk with bytes to send
    size_t unsent_offset;
    uint64_t queued;                    // the bytes of every chunk
    uint64_t left;                      // bytes not sent yet
    size_t acked_in_first;              // bytes of `first` that are acknowledged
    uint64_t code;
    uint32_t progress;                  // the connection's `timeouts` when bytes were last acknowledged
    uint32_t events;
    bool is_sending, is_waiting, is_touched, is_blocked, is_closed;
    bool has_finish, sent_finish, is_reset, is_dropped;
    bool is_read_closed, has_stopped;          // the reader has ended; the peer knows
    bool is_wide;                       // has the full window, as those that we open have from the start
};

struct rq_conn {
    ngtcp2_crypto_conn_ref ref;         // GnuTLS's user pointer; first, so that it is also ours
    ngtcp2_conn *engine;
    gnutls_session_t session;           // NULL once trimmed
    const rq_tls *tls;
    const rq_hooks *hooks;
    void *user;
    uint64_t last_now;                  // time never goes backwards for the engine
    uint64_t expiry;
    uint64_t keep_alive;
    rq_stream *streams;
    rq_stream *send_first, *send_last;
    rq_stream *wait_first, *wait_last;
    rq_stream *blocked_first, *blocked_last;    // by the window of the stream
    size_t blocked;                     // the length of this list
    size_t retries;                     // the blocked streams that retry because a packet arrived
    rq_stream *touched_first, *touched_last;
    rq_flow_limits initial, full;
    uint64_t streams_left;              // the streams that the peer may still open
    uint64_t streams_due;               // further streams that were not granted to it yet
    rq_ccerr error;
    uint8_t secret[RQ_SECRET_LENGTH];
    uint8_t exporter[RQ_MAX_EXPORTER_SECRET];
    uint8_t exporter_length;
    bool is_server, is_completed, is_confirmed, has_paced, has_error;
    bool is_extended;                   // the full limits hold
    bool has_heard;                     // a packet arrived since the last pass
    uint32_t send_errors;
    uint32_t timeouts;                  // probe timeouts that passed, counted one by one
    uint64_t counted_at;                // when the last of them was
    uint64_t small_until;               // until then only packets that every path must carry
    uint32_t silent_timeouts;           // probe timeouts since the last received packet, with data in flight
    ru_addr alias_remote;               // the remote of the path whose local address has `alias_port` for ngtcp2
    uint16_t alias_port, port;
    ru_addr refused_remote;
    ru_addr next_local, next_remote;    // the path that is being validated, if `is_validating`
    bool has_refused_path, is_validating;
    uint64_t confirm_by;                // when the handshake must be confirmed
};

// address.c
void rq_path_set(ngtcp2_path *path, ngtcp2_sockaddr_union *local, const ru_addr *from, ngtcp2_sockaddr_union *remote,
                 const ru_addr *to);

// blackhole.c
void rq_conn_count_timeout(rq_conn *conn);
size_t rq_conn_packet_size(const rq_conn *conn);

// tls.c
int rq_tls_start(rq_conn *conn);
int rq_tls_feed(ngtcp2_conn *engine, rq_level level, uint64_t offset, const uint8_t *data, size_t length, void *user);
bool rq_tls_is_alpn_right(const rq_conn *conn);

// stream.c
void rq_touch(rq_stream *stream, uint32_t events);
void rq_stream_enqueue(rq_stream *stream);
void rq_stream_requeue(rq_stream *stream);
void rq_stream_block(rq_stream *stream);
void rq_stream_unblock(rq_stream *stream);
void rq_conn_retry_blocked(rq_conn *conn);
rq_stream *rq_stream_make(rq_conn *conn, int64_t id);
void rq_stream_acked(rq_stream *stream, uint64_t length);
void rq_stream_sent(rq_stream *stream, uint64_t length, bool finish);
size_t rq_stream_gather(const rq_stream *stream, ngtcp2_vec *vectors, size_t count, uint64_t *total);
uint64_t rq_stream_unacknowledged(const rq_stream *stream);
void rq_stream_drop_queue(rq_stream *stream);
void rq_conn_open_waiting(rq_conn *conn);
void rq_conn_grant_streams(rq_conn *conn);
void rq_stream_widen(rq_stream *stream);

// callbacks.c
void rq_callbacks_fill(ngtcp2_callbacks *callbacks, bool is_server);

static inline uint64_t rq_clamp(rq_conn *conn, uint64_t now) {
    if (now > conn->last_now) conn->last_now = now;
    return conn->last_now;
}

#endif

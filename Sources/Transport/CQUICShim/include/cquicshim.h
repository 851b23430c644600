// The interface of the QUIC engine to Swift: no type of ngtcp2 or GnuTLS, no macro, no variadic function.
//
// Every function that takes an rq_conn, an rq_stream or a ru_udp belongs to the one I/O thread; nothing here locks.
// Times are nanoseconds of CLOCK_MONOTONIC. Functions that may fail return one of the RQ_ codes below.
#ifndef CQUICSHIM_H
#define CQUICSHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudpshim.h"

typedef struct rq_cid {
    uint8_t length;
    uint8_t bytes[20];
} rq_cid;

// The result of a function of the engine.
enum {
    RQ_OK = 0,
    // The connection must be closed with the error that the engine recorded: call rq_conn_close_packet.
    RQ_CLOSE = 1,
    // The peer closed the connection; nothing more may be sent.
    RQ_DRAINING = 2,
    // Drop the connection without sending a packet.
    RQ_DROP = 3,
    // No packet arrived within the idle timeout.
    RQ_IDLE = 4,
    // The handshake took too long.
    RQ_HANDSHAKE_TIMEOUT = 5,
    // The peer must prove its address first.
    RQ_RETRY = 6,
    // The socket buffer is full.
    RQ_BLOCKED = 7,
    RQ_FAILED = 8,
    // No connection ID is left for another path.
    RQ_NO_ID = 9,
};

// The length of the connection ids that we choose.
enum { RQ_CID_LENGTH = 8, RQ_SECRET_LENGTH = 32, RQ_MAX_EXPORTER_SECRET = 64 };

// ---- TLS ----------------------------------------------------------------------------------------------------------

typedef struct rq_tls rq_tls;

typedef struct rq_bytes {
    const uint8_t *base;
    size_t length;
} rq_bytes;

// Loads a certificate chain (DER, usually one; none for tests of refusal) and its key (PKCS#8 DER). Returns NULL and
// fills `why` on failure.
rq_tls *rq_tls_new(const rq_bytes *certificates, size_t count, rq_bytes key, rq_bytes alpn, const char *priority,
                   char *why, size_t why_size);
void rq_tls_free(rq_tls *tls);

// The priority string of the house: TLS 1.3, AES-128-GCM first, server order, Ed25519 signatures only.
const char *rq_tls_default_priority(void);

// RFC 8446, section 7.5, with an empty context, from the exporter secret of a connection. A plain function of its
// arguments, so that any thread may call it.
int rq_export(const uint8_t *secret, size_t secret_length, rq_bytes label, uint8_t *out, size_t out_length);

// ---- Channels -----------------------------------------------------------------------------------------------------

// The addresses 100::/64 denote the far ends of channels through relays; no packet is sent to them directly.
bool rq_addr_is_channel(const ru_addr *address);
// The header of a datagram of a channel: this byte, which begins neither QUIC nor STUN, and the number of 7 bytes.
enum { RQ_CHANNEL_BYTE = 0x30, RQ_CHANNEL_HEADER = 8 };
// Sends each segment after a header of RQ_CHANNEL_HEADER bytes, without the first `skipped` bytes of the segment.
int rq_udp_send_wrapped(ru_udp *udp, const ru_addr *from, const ru_addr *to, const uint8_t *header,
                        const uint8_t *bytes, size_t length, size_t segment, size_t skipped);

// ---- Thread, wake-up and clock --------------------------------------------------------------------------------------

uint64_t rq_now(void);
int rq_thread_start(void (*body)(void *), void *context);

typedef struct rq_waker rq_waker;
rq_waker *rq_waker_new(void);
void rq_waker_free(rq_waker *waker);
// Any thread may call this.
void rq_waker_wake(rq_waker *waker);
// Sleeps until a socket can be read (or written, when blocked), a thread calls rq_waker_wake, or `timeout` nanoseconds
// passed. `readable` gets for each socket whether it can be read.
void rq_waker_wait(rq_waker *waker, ru_udp *const *sockets, size_t count, uint64_t timeout, bool *readable);
void rq_random(uint8_t *out, size_t length);

// ---- Connections --------------------------------------------------------------------------------------------------

typedef struct rq_conn rq_conn;
typedef struct rq_stream rq_stream;

// Called from within rq_conn_read and similar functions. A hook must neither call the engine nor resume a user.
typedef struct rq_hooks {
    // The peer's Ed25519 key; true accepts it.
    bool (*verify)(void *connection, const uint8_t key[32]);
    // A local connection id was added or removed.
    void (*cid_added)(void *connection, const rq_cid *cid);
    void (*cid_removed)(void *connection, const rq_cid *cid);
    // The peer opened a stream; returns the caller's object for it.
    void *(*stream_opened)(void *connection, rq_stream *stream);
    // Bytes arrived, in order.
    void (*stream_data)(void *stream, const uint8_t *bytes, size_t length);
    // A buffer given to rq_stream_write is no longer needed.
    void (*release)(void *owner);
    // A batch for a channel or from a further port; RQ_OK when it left.
    int (*transmit)(void *connection, const ru_outgoing *batch);
} rq_hooks;

// Whether the calling thread is below one of the hooks, in the middle of a packet.
bool rq_is_inside(void);

enum { RQ_CUBIC = 0, RQ_BBR = 1, RQ_RENO = 2 };

// The credit of a peer (RFC 9000, section 4): unread bytes of a stream that it opens, those of the connection, and open
// streams.
typedef struct rq_flow_limits {
    uint64_t stream_window, connection_window, max_streams;
} rq_flow_limits;

typedef struct rq_options {
    rq_flow_limits initial;     // announced in the handshake
    rq_flow_limits full;        // granted by rq_conn_extend_limits; at least `initial`
    uint64_t idle_timeout, keep_alive, handshake_timeout;
    uint8_t congestion;
    uint8_t secret[RQ_SECRET_LENGTH];
} rq_options;

// Dials. `local` must be the address that ru_route gave.
rq_conn *rq_conn_dial(const rq_tls *tls, const rq_options *options, const rq_hooks *hooks, void *user,
                      const ru_addr *local, const ru_addr *remote, uint64_t now);

// A parsed Initial packet from an unknown client.
typedef struct rq_initial {
    uint32_t version;
    rq_cid destination, source;
    rq_cid original;        // the first destination, when a Retry token proved the address
    bool has_token, is_validated;
    const uint8_t *token;
    size_t token_length;
} rq_initial;

enum {
    RQ_PACKET_INITIAL = 0,          // `initial` is filled
    RQ_PACKET_UNSUPPORTED = 1,      // another version: answer with rq_write_version_negotiation
    RQ_PACKET_UNKNOWN_SHORT = 2,    // a short header: answer with rq_write_stateless_reset
    RQ_PACKET_IGNORED = 3,
};

// Finds the destination connection id; false if the datagram is too short for one.
bool rq_packet_destination(const uint8_t *bytes, size_t length, rq_cid *cid, bool *is_long, uint32_t *version);
// Classifies a packet that belongs to no connection.
int rq_packet_classify(const uint8_t *bytes, size_t length, rq_initial *initial);
// Checks the Retry token of an Initial; sets is_validated and original. False if the token is not good.
bool rq_initial_check_token(rq_initial *initial, const uint8_t secret[RQ_SECRET_LENGTH], const ru_addr *remote,
                            uint64_t now);
// These write one packet to `out` (at least 1 200 bytes) and return its length, 0 on failure.
size_t rq_write_retry(const rq_initial *initial, const uint8_t secret[RQ_SECRET_LENGTH], const ru_addr *remote,
                      uint64_t now, uint8_t *out, size_t size);
size_t rq_write_version_negotiation(const uint8_t *bytes, size_t length, uint8_t *out, size_t size);
size_t rq_write_stateless_reset(const rq_cid *cid, const uint8_t secret[RQ_SECRET_LENGTH], size_t received,
                                uint8_t *out, size_t size);

// Makes the server's end for an Initial.
rq_conn *rq_conn_accept(const rq_tls *tls, const rq_options *options, const rq_hooks *hooks, void *user,
                        const rq_initial *initial, const ru_addr *local, const ru_addr *remote, uint64_t now);
void rq_conn_free(rq_conn *conn);

// Feeds one datagram of a batch.
int rq_conn_read(rq_conn *conn, const ru_incoming *batch, const uint8_t *bytes, size_t length, uint64_t now);
// Sends the due packets through the socket of the connection's address family.
int rq_conn_send(rq_conn *conn, ru_udp *ipv4, ru_udp *ipv6, uint64_t now);
// When rq_conn_expire must be called.
uint64_t rq_conn_expiry(const rq_conn *conn);
int rq_conn_expire(rq_conn *conn, uint64_t now);
// Three probe timeouts (RFC 9000, section 10.2) of our own, at most 3 s, regardless of the peer's max_ack_delay.
uint64_t rq_conn_draining_time(const rq_conn *conn);
// Writes CONNECTION_CLOSE: with the application's code, or with the recorded error when `is_application` is false.
size_t rq_conn_close_packet(rq_conn *conn, bool is_application, uint64_t code, rq_bytes reason, uint64_t now,
                            uint8_t *out, size_t size);

// Both sides are known to have completed the handshake.
bool rq_conn_is_confirmed(const rq_conn *conn);
void rq_conn_remote_address(const rq_conn *conn, ru_addr *remote);
void rq_conn_local_address(const rq_conn *conn, ru_addr *local);
size_t rq_conn_exporter_secret(const rq_conn *conn, uint8_t out[RQ_MAX_EXPORTER_SECRET]);
// Frees the state of the handshake; call outside of rq_conn_read once confirmed.
void rq_conn_trim(rq_conn *conn);
// Moves a connection that we dialled to another path, with path validation: `at_once` also if the peer does not answer
// there, else when it does. Returns RQ_OK also if the path is being validated already; RQ_NO_ID, or RQ_FAILED.
int rq_conn_migrate(rq_conn *conn, const ru_addr *local, const ru_addr *remote, bool at_once, uint64_t now);
// The path whose validation failed since the last call; false if there is none.
bool rq_conn_take_refused_path(rq_conn *conn, ru_addr *remote);
// Whether probe timeouts passed without a sign of the peer while something was under way.
bool rq_conn_is_silent(const rq_conn *conn);
// From now on each write sends a ping, or again after the usual time only.
void rq_conn_keep_alive_now(rq_conn *conn, bool is_now);
// The smoothed time from a packet to its acknowledgement, in nanoseconds; 0 before the first.
uint64_t rq_conn_round_trip(const rq_conn *conn);
// Send errors since the last call.
uint32_t rq_conn_take_send_errors(rq_conn *conn);

enum { RQ_CLOSED_TRANSPORT = 0, RQ_CLOSED_APPLICATION = 1, RQ_CLOSED_TLS_ALERT = 2, RQ_CLOSED_NONE = 3 };
typedef struct rq_close_info {
    uint8_t kind;
    bool is_local;
    uint64_t code;
    uint16_t reason_length;
    uint8_t reason[256];
} rq_close_info;
// Why the connection ended: the peer's CONNECTION_CLOSE, or the error that the engine recorded.
void rq_conn_close_info(const rq_conn *conn, rq_close_info *info);

// ---- Streams ------------------------------------------------------------------------------------------------------

// Makes a stream of ours; it gets its id when the peer allows one more.
rq_stream *rq_stream_open(rq_conn *conn, void *user);
// Queues bytes by copying them.
void rq_stream_write_copy(rq_stream *stream, const uint8_t *bytes, size_t length);
// Queues bytes in place; hooks.release(owner) is called once they are acknowledged or discarded.
void rq_stream_write(rq_stream *stream, const uint8_t *bytes, size_t length, void *owner);
void rq_stream_finish(rq_stream *stream);
// Resets both directions with RESET_STREAM and STOP_SENDING.
void rq_stream_reset(rq_stream *stream, uint64_t code);
// Ends reading: sends STOP_SENDING once the queued bytes are acknowledged.
void rq_stream_stop_reading(rq_stream *stream);
// Returns credit for consumed bytes. `stream` is NULL if it was freed.
void rq_conn_consume(rq_conn *conn, rq_stream *stream, uint64_t length);
// Raises the credit of the peer from the initial limits to the full ones; does nothing the second time.
void rq_conn_extend_limits(rq_conn *conn);
// Allows the peer one more stream, in place of an accepted stream that is closed. Under the initial limits the credit is
// only recorded: they count closed streams too.
void rq_conn_allow_stream(rq_conn *conn);

enum {
    RQ_EVENT_DATA = 1,
    RQ_EVENT_FIN = 2,
    RQ_EVENT_RESET = 4,
    RQ_EVENT_STOP = 8,
    RQ_EVENT_ACKED = 16,
    RQ_EVENT_CLOSED = 32,       // the stream object is about to go: call rq_stream_free
};

typedef struct rq_event {
    rq_stream *stream;
    void *user;
    uint32_t flags;
    uint64_t code;              // of RESET and STOP
    uint64_t queued;            // bytes not acknowledged yet
} rq_event;

// Takes the next stream to which something happened; false when there is none.
bool rq_conn_next_event(rq_conn *conn, rq_event *event);
// Whether anything happened that was not taken yet; sending may find out too.
bool rq_conn_has_events(const rq_conn *conn);
// Whether bytes wait to be sent, or streams for leave to be opened.
bool rq_conn_has_unsent(const rq_conn *conn);
void rq_stream_free(rq_stream *stream);
// Takes any stream that is left, for tearing down; NULL when there is none. The stream is freed.
void *rq_conn_pop_stream(rq_conn *conn);

#endif

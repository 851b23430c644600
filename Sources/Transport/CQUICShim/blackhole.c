// A path whose MTU shrinks during a transfer drops long packets silently, because fragmentation is forbidden. ngtcp2 detects
// a larger path MTU but not a smaller one, and would send packets of the old length endlessly. Therefore (RFC 8899, section
// 4.3), when the bytes of a stream stay unacknowledged over three probe timeouts, packets shrink to the size that every path
// must carry (RFC 9000, section 14.1), and grow again when the RFC's timer expires.
#include "internal.h"

enum { RQ_SILENT_TIMEOUTS = 3, RQ_SUSPICIOUS_TIMEOUTS = 2 };
static const uint64_t RQ_RAISE_NANOSECONDS = 600 * NGTCP2_SECONDS;
static const uint64_t RQ_DRAINING_NANOSECONDS = 3 * NGTCP2_SECONDS;

static bool is_swallowed(const rq_conn *conn) {
    for (const rq_stream *stream = conn->streams; stream != NULL; stream = stream->next) {
        bool is_waiting = rq_stream_unacknowledged(stream) > 0;
        if (is_waiting && conn->timeouts - stream->progress >= RQ_SILENT_TIMEOUTS) return true;
    }
    return false;
}

#if RQ_NGTCP2_1
typedef ngtcp2_conn_info rq_info;
static void get_info(const rq_conn *conn, rq_info *info) { ngtcp2_conn_get_conn_info(conn->engine, info); }
#else
typedef ngtcp2_conn_stat rq_info;
static void get_info(const rq_conn *conn, rq_info *info) { ngtcp2_conn_get_conn_stat(conn->engine, info); }
#endif

// Also a lone ping counts, which no stream waits for.
static bool is_anything_under_way(const rq_conn *conn) {
    rq_info info;
    get_info(conn, &info);
    return info.bytes_in_flight > 0;
}

// Without a measurement the engine uses an initial estimate.
uint64_t rq_conn_round_trip(const rq_conn *conn) {
    rq_info info;
    get_info(conn, &info);
    return info.min_rtt == UINT64_MAX ? 0 : info.smoothed_rtt;
}

// ngtcp2's own probe timeout has the peer's max_ack_delay in it, which may be 16 s; this has the default of 25 ms.
uint64_t rq_conn_draining_time(const rq_conn *conn) {
    rq_info info;
    get_info(conn, &info);
    uint64_t variation = 4 * info.rttvar;
    if (variation < NGTCP2_MILLISECONDS) variation = NGTCP2_MILLISECONDS;
    uint64_t time = 3 * (info.smoothed_rtt + variation + NGTCP2_DEFAULT_MAX_ACK_DELAY);
    return time < RQ_DRAINING_NANOSECONDS ? time : RQ_DRAINING_NANOSECONDS;
}

bool rq_conn_is_silent(const rq_conn *conn) { return conn->silent_timeouts >= RQ_SUSPICIOUS_TIMEOUTS; }

// Timeouts are counted as they are lived through, at most one per call: a clock that leaps ahead proves nothing.
void rq_conn_count_timeout(rq_conn *conn) {
    uint64_t now = conn->last_now;
    if (now - conn->counted_at < ngtcp2_conn_get_pto(conn->engine)) return;
    conn->counted_at = now;
    conn->timeouts++;
    if (is_anything_under_way(conn)) conn->silent_timeouts++;
    if (ngtcp2_conn_get_path_max_tx_udp_payload_size(conn->engine) <= NGTCP2_MAX_UDP_PAYLOAD_SIZE) return;
    if (is_swallowed(conn)) conn->small_until = now + RQ_RAISE_NANOSECONDS;
}

size_t rq_conn_packet_size(const rq_conn *conn) {
    if (conn->last_now < conn->small_until) return NGTCP2_MAX_UDP_PAYLOAD_SIZE;
    return ngtcp2_conn_get_max_tx_udp_payload_size(conn->engine);
}

// The send queue of a stream, and the lists on which a connection keeps its streams.
#include <stdlib.h>
#include <string.h>

#include "internal.h"

rq_stream *rq_stream_make(rq_conn *conn, int64_t id) {
    rq_stream *stream = calloc(1, sizeof(*stream));
    if (stream == NULL) return NULL;
    stream->conn = conn;
    stream->id = id;
    stream->next = conn->streams;
    if (conn->streams != NULL) conn->streams->previous = stream;
    conn->streams = stream;
    return stream;
}

rq_stream *rq_stream_open(rq_conn *conn, void *user) {
    rq_stream *stream = rq_stream_make(conn, -1);
    if (stream == NULL) return NULL;
    stream->user = user;
    stream->is_wide = true;
    return stream;
}

void rq_touch(rq_stream *stream, uint32_t events) {
    rq_conn *conn = stream->conn;
    stream->events |= events;
    if (stream->is_touched) return;
    stream->is_touched = true;
    stream->next_touched = NULL;
    if (conn->touched_last != NULL) conn->touched_last->next_touched = stream;
    else conn->touched_first = stream;
    conn->touched_last = stream;
}

static void stop_if_sent(rq_stream *stream);

bool rq_conn_has_events(const rq_conn *conn) { return conn->touched_first != NULL; }

bool rq_conn_has_unsent(const rq_conn *conn) { return conn->send_first != NULL || conn->wait_first != NULL; }

bool rq_conn_next_event(rq_conn *conn, rq_event *event) {
    rq_stream *stream = conn->touched_first;
    if (stream == NULL) return false;
    conn->touched_first = stream->next_touched;
    if (conn->touched_first == NULL) conn->touched_last = NULL;
    stop_if_sent(stream);
    *event = (rq_event){stream, stream->user, stream->events, stream->code, stream->queued};
    stream->is_touched = false;
    stream->events = 0;
    return true;
}

// Blocked streams that try again in one pass.
enum { RQ_RETRIES_PER_PASS = 16 };

static void enqueue(rq_stream *stream, rq_stream **first, rq_stream **last) {
    stream->next_to_send = NULL;
    stream->previous_to_send = *last;
    if (*last != NULL) (*last)->next_to_send = stream;
    else *first = stream;
    *last = stream;
}

static void unlink_from(rq_stream *stream, rq_stream **first, rq_stream **last) {
    rq_stream *before = stream->previous_to_send, *after = stream->next_to_send;
    if (before != NULL) before->next_to_send = after;
    else *first = after;
    if (after != NULL) after->previous_to_send = before;
    else *last = before;
    stream->previous_to_send = stream->next_to_send = NULL;
}

static void leave_queues(rq_stream *stream) {
    rq_conn *conn = stream->conn;
    if (stream->is_sending) unlink_from(stream, &conn->send_first, &conn->send_last);
    if (stream->is_waiting) unlink_from(stream, &conn->wait_first, &conn->wait_last);
    if (stream->is_blocked) {
        unlink_from(stream, &conn->blocked_first, &conn->blocked_last);
        conn->blocked--;
    }
    stream->is_sending = stream->is_waiting = stream->is_blocked = false;
}

static bool has_something_to_send(const rq_stream *stream) {
    return !stream->is_closed && !stream->is_reset && (stream->left > 0 || (stream->has_finish && !stream->sent_finish));
}

void rq_stream_enqueue(rq_stream *stream) {
    rq_conn *conn = stream->conn;
    if (stream->is_sending || stream->is_waiting || stream->is_blocked || !has_something_to_send(stream)) return;
    if (stream->id < 0) {
        stream->is_waiting = true;
        enqueue(stream, &conn->wait_first, &conn->wait_last);
    } else {
        stream->is_sending = true;
        enqueue(stream, &conn->send_first, &conn->send_last);
    }
}

// To the end of the send queue, if anything is left.
void rq_stream_requeue(rq_stream *stream) {
    leave_queues(stream);
    rq_stream_enqueue(stream);
}

// A stream gets its id only when it has data to send and the peer's limit permits it.
void rq_conn_open_waiting(rq_conn *conn) {
    while (conn->wait_first != NULL) {
        rq_stream *stream = conn->wait_first;
        if (ngtcp2_conn_open_bidi_stream(conn->engine, &stream->id, stream) != 0) {
            stream->id = -1;
            return;
        }
        rq_stream_requeue(stream);
    }
}

void rq_stream_block(rq_stream *stream) {
    rq_conn *conn = stream->conn;
    leave_queues(stream);
    stream->is_blocked = true;
    enqueue(stream, &conn->blocked_first, &conn->blocked_last);
    conn->blocked++;
}

void rq_stream_unblock(rq_stream *stream) {
    if (stream->is_blocked) rq_stream_requeue(stream);
}

// MAX_STREAM_DATA ends the wait of a blocked stream by itself. STOP_SENDING does too, but ngtcp2 reports that only to a
// write. So each of them tries again after a packet of the peer, in turn and a few per pass: otherwise a peer that
// blocks 1,280 streams would make every packet cost 1,280 writes. The window of the connection blocks no stream: the
// first of the send queue waits for it there.
void rq_conn_retry_blocked(rq_conn *conn) {
    if (conn->has_heard) conn->retries = conn->blocked;
    conn->has_heard = false;
    if (conn->retries > conn->blocked) conn->retries = conn->blocked;
    for (int count = 0; count < RQ_RETRIES_PER_PASS && conn->retries > 0; count++) {
        conn->retries--;
        rq_stream_requeue(conn->blocked_first);
    }
}

static void append(rq_stream *stream, rq_chunk *chunk) {
    if (stream->last != NULL) stream->last->next = chunk;
    else stream->first = chunk;
    stream->last = chunk;
    if (stream->unsent == NULL) {
        stream->unsent = chunk;
        stream->unsent_offset = 0;
    }
    stream->queued += chunk->length;
    stream->left += chunk->length;
    rq_stream_enqueue(stream);
}

static rq_chunk *make_chunk(size_t inlined) {
    rq_chunk *chunk = malloc(sizeof(*chunk) + inlined);
    // A stream with a gap would be corrupt, and without memory the failure cannot be reported.
    if (chunk == NULL) abort();
    chunk->next = NULL;
    return chunk;
}

void rq_stream_write_copy(rq_stream *stream, const uint8_t *bytes, size_t length) {
    if (length == 0 || stream->is_closed || stream->is_reset) return;
    rq_chunk *chunk = make_chunk(length);
    memcpy(chunk->inlined, bytes, length);
    chunk->base = chunk->inlined;
    chunk->length = length;
    chunk->owner = NULL;
    append(stream, chunk);
}

void rq_stream_write(rq_stream *stream, const uint8_t *bytes, size_t length, void *owner) {
    if (length == 0 || stream->is_closed || stream->is_reset) {
        stream->conn->hooks->release(owner);
        return;
    }
    rq_chunk *chunk = make_chunk(0);
    chunk->base = bytes;
    chunk->length = length;
    chunk->owner = owner;
    append(stream, chunk);
}

void rq_stream_finish(rq_stream *stream) {
    stream->has_finish = true;
    rq_stream_enqueue(stream);
}

size_t rq_stream_gather(const rq_stream *stream, ngtcp2_vec *vectors, size_t count, uint64_t *total) {
    const rq_chunk *chunk = stream->unsent;
    size_t used = 0, offset = stream->unsent_offset;
    *total = 0;
    for (; chunk != NULL && used < count; chunk = chunk->next, offset = 0) {
        vectors[used].base = (uint8_t *)(uintptr_t)chunk->base + offset;
        vectors[used].len = chunk->length - offset;
        *total += vectors[used].len;
        used++;
        // More than a packet's worth is useless.
        if (*total >= 65536) break;
    }
    return used;
}

void rq_stream_sent(rq_stream *stream, uint64_t length, bool finish) {
    if (rq_stream_unacknowledged(stream) == 0) stream->progress = stream->conn->timeouts;
    stream->left -= length;
    if (finish) stream->sent_finish = true;
    while (length > 0 && stream->unsent != NULL) {
        uint64_t rest = stream->unsent->length - stream->unsent_offset;
        if (length < rest) {
            stream->unsent_offset += length;
            return;
        }
        length -= rest;
        stream->unsent = stream->unsent->next;
        stream->unsent_offset = 0;
    }
}

static void free_first_chunk(rq_stream *stream) {
    rq_chunk *chunk = stream->first;
    stream->first = chunk->next;
    if (stream->first == NULL) stream->last = NULL;
    stream->queued -= chunk->length;
    if (chunk->owner != NULL) stream->conn->hooks->release(chunk->owner);
    free(chunk);
}

void rq_stream_acked(rq_stream *stream, uint64_t length) {
    stream->acked_in_first += length;
    while (stream->first != NULL && stream->first != stream->unsent &&
           stream->acked_in_first >= stream->first->length) {
        stream->acked_in_first -= stream->first->length;
        free_first_chunk(stream);
    }
    stream->progress = stream->conn->timeouts;
    rq_touch(stream, RQ_EVENT_ACKED);
}

uint64_t rq_stream_unacknowledged(const rq_stream *stream) {
    return stream->is_dropped ? 0 : stream->queued - stream->acked_in_first - stream->left;
}

void rq_stream_drop_queue(rq_stream *stream) {
    stream->unsent = NULL;
    stream->left = 0;
    stream->has_finish = stream->sent_finish = stream->is_dropped = true;
    leave_queues(stream);
}

void rq_stream_reset(rq_stream *stream, uint64_t code) {
    if (stream->is_closed || stream->is_reset) return;
    stream->is_reset = stream->is_read_closed = stream->has_stopped = true;
    rq_stream_drop_queue(stream);
    if (stream->id < 0) {
        // The stream was never opened towards the peer.
        stream->is_closed = true;
        rq_touch(stream, RQ_EVENT_CLOSED);
        return;
    }
#if RQ_NGTCP2_1
    ngtcp2_conn_shutdown_stream(stream->conn->engine, 0, stream->id, code);
#else
    ngtcp2_conn_shutdown_stream(stream->conn->engine, stream->id, code);
#endif
}

// STOP_SENDING is delayed until all sent bytes are acknowledged: a peer that received it before the first byte would have to
// decide about a stream that it has not seen. Until then the stream's window bounds the unread bytes that arrive.
static void stop_if_sent(rq_stream *stream) {
    if (!stream->is_read_closed || stream->has_stopped || stream->is_closed || stream->id < 0 || stream->queued > 0) return;
    stream->has_stopped = true;
#if RQ_NGTCP2_1
    ngtcp2_conn_shutdown_stream_read(stream->conn->engine, 0, stream->id, 0);
#else
    ngtcp2_conn_shutdown_stream_read(stream->conn->engine, stream->id, 0);
#endif
}

void rq_stream_stop_reading(rq_stream *stream) {
    stream->is_read_closed = true;
    stop_if_sent(stream);
}

void rq_conn_consume(rq_conn *conn, rq_stream *stream, uint64_t length) {
    if (length == 0) return;
    if (stream != NULL && !stream->is_closed && !stream->is_read_closed) {
        ngtcp2_conn_extend_max_stream_offset(conn->engine, stream->id, length);
    }
    ngtcp2_conn_extend_max_offset(conn->engine, length);
}

// MAX_STREAMS costs a packet and its acknowledgement, so it is not sent while the peer may still open many streams.
void rq_conn_grant_streams(rq_conn *conn) {
    if (!conn->is_extended || conn->streams_due == 0 || conn->streams_left > conn->full.max_streams / 2) return;
    ngtcp2_conn_extend_max_streams_bidi(conn->engine, conn->streams_due);
    conn->streams_left += conn->streams_due;
    conn->streams_due = 0;
}

// A stream of the peer begins with the window of the transport parameters, which cannot change after the handshake. The
// window is widened with the first bytes, unless the stream ends with them.
void rq_stream_widen(rq_stream *stream) {
    rq_conn *conn = stream->conn;
    if (!conn->is_extended || stream->is_wide || stream->is_read_closed || stream->is_closed) return;
    stream->is_wide = true;
    uint64_t more = conn->full.stream_window - conn->initial.stream_window;
    if (more > 0) ngtcp2_conn_extend_max_stream_offset(conn->engine, stream->id, more);
}

void rq_conn_extend_limits(rq_conn *conn) {
    if (conn->is_extended) return;
    conn->is_extended = true;
    ngtcp2_conn_extend_max_offset(conn->engine, conn->full.connection_window - conn->initial.connection_window);
    conn->streams_due += conn->full.max_streams - conn->initial.max_streams;
    rq_conn_grant_streams(conn);
    for (rq_stream *stream = conn->streams; stream != NULL; stream = stream->next) rq_stream_widen(stream);
}

void rq_conn_allow_stream(rq_conn *conn) {
    conn->streams_due++;
    rq_conn_grant_streams(conn);
}

void rq_stream_free(rq_stream *stream) {
    rq_conn *conn = stream->conn;
    leave_queues(stream);
    while (stream->first != NULL) free_first_chunk(stream);
    if (stream->is_touched) {
        rq_stream **link = &conn->touched_first, *before = NULL;
        while (*link != NULL && *link != stream) {
            before = *link;
            link = &(*link)->next_touched;
        }
        if (*link == stream) *link = stream->next_touched;
        if (conn->touched_last == stream) conn->touched_last = before;
    }
    if (stream->previous != NULL) stream->previous->next = stream->next;
    else conn->streams = stream->next;
    if (stream->next != NULL) stream->next->previous = stream->previous;
    free(stream);
}

void *rq_conn_pop_stream(rq_conn *conn) {
    rq_stream *stream = conn->streams;
    if (stream == NULL) return NULL;
    void *user = stream->user;
    rq_stream_free(stream);
    return user;
}

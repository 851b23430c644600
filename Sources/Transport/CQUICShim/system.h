// Sockets, threads and waiting: the interface between udp.c and loop.c and the implementations for each system (udp_linux.c;
// udp_posix.c for Apple systems).
#ifndef RQ_SYSTEM_H
#define RQ_SYSTEM_H

#include <poll.h>

#include "internal.h"

enum { RQ_BATCH_LENGTH = 16, RQ_GSO_ROOM = 65536, RQ_SOCKET_BUFFER = 4 << 20, RQ_CONTROL_ROOM = 128 };

struct rq_udp {
    int descriptor;
    rq_addr bound;
    bool is_wildcard;           // bound to the unspecified address, so that each datagram carries its source
    bool has_segmentation;      // the system segments a batch (GSO)
    rq_fault fault;
    void *fault_context;
    // A batch that the socket had no room for.
    uint8_t *parked;
    size_t parked_length, parked_segment;
    rq_addr parked_from, parked_to;
    uint8_t parked_ecn;
};

// Creates a non-blocking, close-on-exec datagram socket of AF_INET or AF_INET6, or returns -1.
int rq_system_socket(int family);
// Sets the options that the system supports: destination and ECN mark of received packets, no fragments, buffers, GSO, GRO.
void rq_system_tune(rq_udp *udp, bool is_ipv6);
// Opens a waker: 8 bytes written to the second end make the first readable. Both ends may be one descriptor.
bool rq_system_open_waker(int ends[2]);
// Waits for the descriptors, at most `timeout` nanoseconds (UINT64_MAX: no limit).
int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout);
// Prepares a new I/O thread, as its first call.
void rq_system_prepare_thread(void);

// Sets a socket option; unsupported ones are ignored, because the transport works without them.
void rq_set_option(int descriptor, int level, int option, int value);
// Fills in a batch that was received with `message`, apart from its bytes and length.
void rq_incoming_describe(rq_incoming *batch, const rq_udp *udp, struct msghdr *message);

#endif

// Sockets, threads and waiting: what udp.c and loop.c share, and what each kind of system answers in a file of its own
// (udp_linux.c; udp_posix.c for Apple systems).
#ifndef RQ_SYSTEM_H
#define RQ_SYSTEM_H

#include <poll.h>

#include "internal.h"

enum { RQ_BATCH_LENGTH = 16, RQ_GSO_ROOM = 65536, RQ_SOCKET_BUFFER = 4 << 20, RQ_CONTROL_ROOM = 128 };

struct rq_udp {
    int descriptor;
    rq_addr bound;
    bool is_wildcard;           // bound to no address of its own, so that each datagram says from which one it leaves
    bool has_segmentation;      // the system segments a batch (GSO)
    rq_fault fault;
    void *fault_context;
    // A batch that the socket had no room for.
    uint8_t *parked;
    size_t parked_length, parked_segment;
    rq_addr parked_from, parked_to;
    uint8_t parked_ecn;
};

// A datagram socket of AF_INET or AF_INET6 that never waits and that no child inherits, or -1.
int rq_system_socket(int family);
// Sets what the system knows of: destination and ECN mark of what arrives, no fragments, room, GSO and GRO.
void rq_system_tune(rq_udp *udp, bool is_ipv6);
// Two ends for waking a thread: 8 bytes written to the second make the first readable. The same one twice will do.
bool rq_system_open_waker(int ends[2]);
// Waits for the descriptors, at most `timeout` nanoseconds (UINT64_MAX: no limit).
int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout);
// The first thing that a new I/O thread does.
void rq_system_prepare_thread(void);

// Sets an option of a socket; what a system does not know is left out, the transport works without.
void rq_set_option(int descriptor, int level, int option, int value);
// Fills in a batch that was received with `message`, apart from its bytes and length.
void rq_incoming_describe(rq_incoming *batch, const rq_udp *udp, struct msghdr *message);

#endif

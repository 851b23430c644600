// UDP sockets for protocols in user space: batches of datagrams (GSO, GRO), ECN marks, the addresses of both ends, and sends
// that wait for room. No type of the system, no macro, no variadic function.
//
// A ru_udp belongs to one thread; nothing here locks.
#ifndef CUDPSHIM_H
#define CUDPSHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Addresses ----------------------------------------------------------------------------------------------------

// A UDP address. `family` is 4, 6 or 0 for none; `port` is in host order.
typedef struct ru_addr {
    uint8_t family;
    uint8_t reserved;
    uint16_t port;
    uint32_t scope;
    uint8_t ip[16];
} ru_addr;

bool ru_addr_equal(const ru_addr *a, const ru_addr *b);

struct sockaddr;
// Writes the address of the system to `out`, which has room for a sockaddr_in6, and returns its length.
uint32_t ru_addr_to_system(const ru_addr *address, struct sockaddr *out);
// Reads an address of the system; one of another family than IPv4 and IPv6 gives `family` 0.
void ru_addr_from_system(ru_addr *address, const struct sockaddr *system);

// Returns the local address from which the system would reach `remote`; returns an errno if there is no route.
int ru_route(const ru_addr *remote, uint16_t local_port, ru_addr *local);

// ---- Sockets ------------------------------------------------------------------------------------------------------

typedef struct ru_udp ru_udp;

// Binds a socket; returns NULL with errno in `error`. `address` gets the port that the system chose.
ru_udp *ru_udp_bind(ru_addr *address, int *error);
// Takes over a bound UDP socket, such as one that another process opened; `address` gets its own. A socket of IPv6 must be
// without IPv4 (IPV6_V6ONLY). Returns NULL with errno in `error`, and the descriptor stays the caller's then.
ru_udp *ru_udp_adopt(int descriptor, ru_addr *address, int *error);
// Whether `error` of ru_udp_bind means that the system lacks the address family.
bool ru_is_family_missing(int error);
// Whether `error` of ru_udp_bind means that the process has no permission for this port or address.
bool ru_is_denied(int error);
// The system's words for an errno.
const char *ru_error_text(int error);
// Closes the socket.
void ru_udp_free(ru_udp *udp);
int ru_udp_descriptor(const ru_udp *udp);
// The address to which the socket is bound.
const ru_addr *ru_udp_address(const ru_udp *udp);
// From now on a datagram that is longer than the path carries, as far as the system knows it, leaves in fragments. Without
// this call no datagram is ever fragmented.
void ru_udp_allow_fragments(ru_udp *udp);

// Called before each call to the kernel, with datagrams of `segment` bytes of which the last may be shorter: an errno to
// act as if the system had failed with it, or 0.
typedef int (*ru_fault)(void *context, const ru_addr *to, const uint8_t *bytes, size_t length, size_t segment);
void ru_udp_set_fault(ru_udp *udp, ru_fault fault, void *context);

// ---- Sending ------------------------------------------------------------------------------------------------------

// The limits of one call to the kernel.
enum { RU_GSO_BYTES = 65000, RU_GSO_SEGMENTS = 64 };

// Sends one datagram, or a batch of segments of `segment` bytes within the limits above, from the address `from` if the
// socket is bound to none and `from` is not NULL. Returns 0, or the errno of the last datagram that did not leave. A full
// socket is no error: one batch waits for ru_udp_flush, and further ones return EAGAIN.
int ru_udp_send(ru_udp *udp, const ru_addr *from, const ru_addr *to, uint8_t ecn, const uint8_t *bytes, size_t length,
                size_t segment);
// Whether a batch waits for room in the socket.
bool ru_udp_is_blocked(const ru_udp *udp);
// Sends the batch that waits; call it when the socket can be written.
void ru_udp_flush(ru_udp *udp);
// Sends the datagrams of each batch one by one from now on.
void ru_udp_stop_segmentation(ru_udp *udp);

// An outgoing GSO batch: datagrams of `segment` bytes one behind the other, of which only the last may be shorter.
typedef struct ru_outgoing {
    ru_addr local, remote;
    uint8_t ecn;
    const uint8_t *bytes;
    size_t length, segment;
} ru_outgoing;
// Whether one more packet, which lies behind it, fits the batch.
bool ru_outgoing_takes(const ru_outgoing *batch, const ru_outgoing *packet);

// ---- Receiving ----------------------------------------------------------------------------------------------------

// A received GRO batch: datagrams of `segment` bytes each; the last may be shorter.
typedef struct ru_incoming {
    const uint8_t *bytes;
    size_t length;
    size_t segment;
    ru_addr source;
    ru_addr destination;
    uint8_t ecn;
} ru_incoming;

// Room for one call of ru_udp_receive.
typedef struct ru_batch ru_batch;
ru_batch *ru_batch_new(void);
void ru_batch_free(ru_batch *batch);
// Receives the available batches, up to the capacity; returns their number, 0 if there are none.
int ru_udp_receive(ru_udp *udp, ru_batch *batch);
const ru_incoming *ru_batch_incoming(const ru_batch *batch, int index);

#endif

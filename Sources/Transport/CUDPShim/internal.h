// The interface between udp.c and the implementations for each system (udp_linux.c; udp_posix.c for Apple systems).
#ifndef RU_INTERNAL_H
#define RU_INTERNAL_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "cudpshim.h"

enum { RU_BATCH_LENGTH = 16, RU_GSO_ROOM = 65536, RU_SOCKET_BUFFER = 4 << 20, RU_CONTROL_ROOM = 128 };

typedef union ru_system_addr {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
} ru_system_addr;

struct ru_udp {
    int descriptor;
    ru_addr bound;
    bool is_wildcard;           // bound to the unspecified address, so that each datagram carries its source
    bool has_segmentation;      // the system segments a batch (GSO)
    ru_fault fault;
    void *fault_context;
    // A batch that the socket had no room for.
    uint8_t *parked;
    size_t parked_length, parked_segment;
    ru_addr parked_from, parked_to;
    uint8_t parked_ecn;
};

// Creates a non-blocking, close-on-exec datagram socket of AF_INET or AF_INET6, or returns -1.
int ru_system_socket(int family);
// Sets the options that the system supports: destination and ECN mark of received packets, no fragments, buffers, GSO, GRO.
void ru_system_tune(ru_udp *udp, bool is_ipv6);
void ru_system_set_fragments(ru_udp *udp, bool is_ipv6, bool are_allowed);

// Makes a descriptor non-blocking and close-on-exec; false on failure.
bool ru_prepare(int descriptor);
// Sets a socket option; unsupported ones are ignored, because datagrams flow without them.
void ru_set_option(int descriptor, int level, int option, int value);
// Fills in a batch that was received with `message`, apart from its bytes and length.
void ru_incoming_describe(ru_incoming *batch, const ru_udp *udp, struct msghdr *message);

#endif

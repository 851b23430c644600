// The Linux implementation: GSO and GRO batches in one system call, and marks for rules of routing.
#if defined(__linux__) && !defined(RUNAR_POSIX_UDP)
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>

#include "internal.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

int ru_system_socket(int family) { return socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

static void set_buffer(int descriptor, int forced, int plain) {
    int size = RU_SOCKET_BUFFER;
    // The forced form needs a privilege and passes the system's limit; the plain one is cut to it.
    if (setsockopt(descriptor, SOL_SOCKET, forced, &size, sizeof(size)) == 0) return;
    ru_set_option(descriptor, SOL_SOCKET, plain, size);
}

// Without fragments nothing is fragmented; with them, what fits the path as the kernel knows it keeps the don't-fragment bit,
// so that routers report a narrower one (RFC 1191).
void ru_system_set_fragments(ru_udp *udp, bool is_ipv6, bool are_allowed) {
    if (is_ipv6) {
        int discovery = are_allowed ? IPV6_PMTUDISC_WANT : IPV6_PMTUDISC_PROBE;
        ru_set_option(udp->descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, discovery);
        ru_set_option(udp->descriptor, IPPROTO_IPV6, IPV6_DONTFRAG, !are_allowed);
    } else {
        int discovery = are_allowed ? IP_PMTUDISC_WANT : IP_PMTUDISC_PROBE;
        ru_set_option(udp->descriptor, IPPROTO_IP, IP_MTU_DISCOVER, discovery);
    }
}

void ru_system_tune(ru_udp *udp, bool is_ipv6) {
    int descriptor = udp->descriptor, none = 0;
    ru_system_set_fragments(udp, is_ipv6, false);
    if (is_ipv6) {
        ru_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        ru_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    } else {
        ru_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
        ru_set_option(descriptor, IPPROTO_IP, IP_RECVTOS, 1);
    }
    ru_set_option(descriptor, IPPROTO_UDP, UDP_GRO, 1);
    set_buffer(descriptor, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF);
    udp->has_segmentation = setsockopt(descriptor, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)) == 0;
}

struct ru_batch {
    struct mmsghdr messages[RU_BATCH_LENGTH];
    struct iovec vectors[RU_BATCH_LENGTH];
    struct sockaddr_storage names[RU_BATCH_LENGTH];
    _Alignas(struct cmsghdr) uint8_t controls[RU_BATCH_LENGTH][RU_CONTROL_ROOM];
    ru_incoming incoming[RU_BATCH_LENGTH];
    uint8_t *room;
};

ru_batch *ru_batch_new(void) {
    ru_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL) return NULL;
    batch->room = malloc((size_t)RU_BATCH_LENGTH * RU_GSO_ROOM);
    if (batch->room == NULL) {
        free(batch);
        return NULL;
    }
    for (size_t i = 0; i < RU_BATCH_LENGTH; i++) {
        batch->vectors[i] = (struct iovec){batch->room + i * RU_GSO_ROOM, RU_GSO_ROOM};
        batch->messages[i].msg_hdr.msg_iov = &batch->vectors[i];
        batch->messages[i].msg_hdr.msg_iovlen = 1;
        batch->messages[i].msg_hdr.msg_name = &batch->names[i];
        batch->messages[i].msg_hdr.msg_control = batch->controls[i];
    }
    return batch;
}

void ru_batch_free(ru_batch *batch) {
    if (batch == NULL) return;
    free(batch->room);
    free(batch);
}

const ru_incoming *ru_batch_incoming(const ru_batch *batch, int index) { return &batch->incoming[index]; }

int ru_udp_receive(ru_udp *udp, ru_batch *batch) {
    for (size_t i = 0; i < RU_BATCH_LENGTH; i++) {
        batch->messages[i].msg_hdr.msg_namelen = sizeof(batch->names[i]);
        batch->messages[i].msg_hdr.msg_controllen = RU_CONTROL_ROOM;
        batch->messages[i].msg_hdr.msg_flags = 0;
    }
    // An error belongs to an earlier datagram (ICMP); the socket is usable.
    int count = recvmmsg(udp->descriptor, batch->messages, RU_BATCH_LENGTH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        batch->incoming[i] = (ru_incoming){.bytes = batch->vectors[i].iov_base, .length = batch->messages[i].msg_len};
        ru_incoming_describe(&batch->incoming[i], udp, &batch->messages[i].msg_hdr);
    }
    return count > 0 ? count : 0;
}
#endif

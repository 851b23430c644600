// The Linux implementation: GSO and GRO batches in one system call, and waits of nanoseconds.
#if defined(__linux__) && !defined(RUNAR_POSIX_UDP)
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "system.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

int rq_system_socket(int family) { return socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

static void set_buffer(int descriptor, int forced, int plain) {
    int size = RQ_SOCKET_BUFFER;
    // The forced form needs a privilege and passes the system's limit; the plain one is cut to it.
    if (setsockopt(descriptor, SOL_SOCKET, forced, &size, sizeof(size)) == 0) return;
    rq_set_option(descriptor, SOL_SOCKET, plain, size);
}

void rq_system_tune(rq_udp *udp, bool is_ipv6) {
    int descriptor = udp->descriptor, none = 0;
    if (is_ipv6) {
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
    } else {
        rq_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
        rq_set_option(descriptor, IPPROTO_IP, IP_RECVTOS, 1);
        rq_set_option(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    }
    rq_set_option(descriptor, IPPROTO_UDP, UDP_GRO, 1);
    set_buffer(descriptor, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF);
    udp->has_segmentation = setsockopt(descriptor, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)) == 0;
}

struct rq_batch {
    struct mmsghdr messages[RQ_BATCH_LENGTH];
    struct iovec vectors[RQ_BATCH_LENGTH];
    struct sockaddr_storage names[RQ_BATCH_LENGTH];
    _Alignas(struct cmsghdr) uint8_t controls[RQ_BATCH_LENGTH][RQ_CONTROL_ROOM];
    rq_incoming incoming[RQ_BATCH_LENGTH];
    uint8_t *room;
};

rq_batch *rq_batch_new(void) {
    rq_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL) return NULL;
    batch->room = malloc((size_t)RQ_BATCH_LENGTH * RQ_GSO_ROOM);
    if (batch->room == NULL) {
        free(batch);
        return NULL;
    }
    for (size_t i = 0; i < RQ_BATCH_LENGTH; i++) {
        batch->vectors[i] = (struct iovec){batch->room + i * RQ_GSO_ROOM, RQ_GSO_ROOM};
        batch->messages[i].msg_hdr.msg_iov = &batch->vectors[i];
        batch->messages[i].msg_hdr.msg_iovlen = 1;
        batch->messages[i].msg_hdr.msg_name = &batch->names[i];
        batch->messages[i].msg_hdr.msg_control = batch->controls[i];
    }
    return batch;
}

void rq_batch_free(rq_batch *batch) {
    if (batch == NULL) return;
    free(batch->room);
    free(batch);
}

const rq_incoming *rq_batch_incoming(const rq_batch *batch, int index) { return &batch->incoming[index]; }

int rq_udp_receive(rq_udp *udp, rq_batch *batch) {
    for (size_t i = 0; i < RQ_BATCH_LENGTH; i++) {
        batch->messages[i].msg_hdr.msg_namelen = sizeof(batch->names[i]);
        batch->messages[i].msg_hdr.msg_controllen = RQ_CONTROL_ROOM;
        batch->messages[i].msg_hdr.msg_flags = 0;
    }
    // An error belongs to an earlier datagram (ICMP); the socket is usable.
    int count = recvmmsg(udp->descriptor, batch->messages, RQ_BATCH_LENGTH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        batch->incoming[i] = (rq_incoming){.bytes = batch->vectors[i].iov_base, .length = batch->messages[i].msg_len};
        rq_incoming_describe(&batch->incoming[i], udp, &batch->messages[i].msg_hdr);
    }
    return count > 0 ? count : 0;
}

bool rq_system_open_waker(int ends[2]) {
    ends[0] = ends[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return ends[0] >= 0;
}

int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout) {
    struct timespec wait = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};
    return ppoll(descriptors, count, timeout == UINT64_MAX ? NULL : &wait, NULL);
}

void rq_system_prepare_thread(void) {
    // The default slack of 50 us would round our pacing up.
    (void)prctl(PR_SET_TIMERSLACK, 1000ul);
    (void)prctl(PR_SET_NAME, "quic");
}
#endif

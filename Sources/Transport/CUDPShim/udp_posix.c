// Systems without GSO and GRO, which are Apple's: a system call for each datagram. On Linux RUNAR_POSIX_UDP
// chooses this file instead of the other one, so that it is tested where no Apple system is.
#if !defined(__linux__) || defined(RUNAR_POSIX_UDP)
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

// The least room in a socket that is worth asking for.
enum { RU_SMALLEST_BUFFER = 64 << 10 };

int ru_system_socket(int family) {
    int descriptor = socket(family, SOCK_DGRAM, 0);
    if (descriptor >= 0 && !ru_prepare(descriptor)) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

// Apple's kernel refuses a size above its limit instead of clamping it.
static void set_buffer(int descriptor, int option) {
    for (int size = RU_SOCKET_BUFFER; size >= RU_SMALLEST_BUFFER; size /= 2) {
        if (setsockopt(descriptor, SOL_SOCKET, option, &size, sizeof(size)) == 0) return;
    }
}

void ru_system_set_fragments(ru_udp *udp, bool is_ipv6, bool are_allowed) {
    if (is_ipv6) {
        ru_set_option(udp->descriptor, IPPROTO_IPV6, IPV6_DONTFRAG, !are_allowed);
#if defined(IPV6_MTU_DISCOVER)
        int discovery = are_allowed ? IPV6_PMTUDISC_WANT : IPV6_PMTUDISC_PROBE;
        ru_set_option(udp->descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, discovery);
#endif
    } else {
#if defined(IP_DONTFRAG)
        ru_set_option(udp->descriptor, IPPROTO_IP, IP_DONTFRAG, !are_allowed);
#else
        int discovery = are_allowed ? IP_PMTUDISC_WANT : IP_PMTUDISC_PROBE;
        ru_set_option(udp->descriptor, IPPROTO_IP, IP_MTU_DISCOVER, discovery);
#endif
    }
}

void ru_system_tune(ru_udp *udp, bool is_ipv6) {
    int descriptor = udp->descriptor;
    ru_system_set_fragments(udp, is_ipv6, false);
    if (is_ipv6) {
        ru_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        ru_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    } else {
        // Linux and Apple's systems have the same structure behind this; the older IP_RECVDSTADDR could not send.
        ru_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
        ru_set_option(descriptor, IPPROTO_IP, IP_RECVTOS, 1);
    }
    set_buffer(descriptor, SO_RCVBUF);
    set_buffer(descriptor, SO_SNDBUF);
}

struct ru_batch {
    struct sockaddr_storage name;
    _Alignas(struct cmsghdr) uint8_t control[RU_CONTROL_ROOM];
    ru_incoming incoming[RU_BATCH_LENGTH];
    uint8_t room[RU_BATCH_LENGTH][RU_GSO_ROOM];
};

ru_batch *ru_batch_new(void) { return calloc(1, sizeof(ru_batch)); }
void ru_batch_free(ru_batch *batch) { free(batch); }
const ru_incoming *ru_batch_incoming(const ru_batch *batch, int index) { return &batch->incoming[index]; }

int ru_udp_receive(ru_udp *udp, ru_batch *batch) {
    int count = 0;
    while (count < RU_BATCH_LENGTH) {
        struct iovec vector = {batch->room[count], RU_GSO_ROOM};
        struct msghdr message = {
            .msg_name = &batch->name,
            .msg_namelen = sizeof(batch->name),
            .msg_iov = &vector,
            .msg_iovlen = 1,
            .msg_control = batch->control,
            .msg_controllen = sizeof(batch->control),
        };
        ssize_t length = recvmsg(udp->descriptor, &message, 0);
        if (length < 0 && errno == EINTR) continue;
        // Any other error means that no datagram is available, or belongs to an earlier datagram (ICMP).
        if (length < 0) break;
        batch->incoming[count] = (ru_incoming){.bytes = batch->room[count], .length = (size_t)length};
        ru_incoming_describe(&batch->incoming[count], udp, &message);
        count++;
    }
    return count;
}
#endif

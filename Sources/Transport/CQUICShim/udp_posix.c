// Systems without GSO and GRO, which are Apple's: a system call for each datagram, a pipe for waking up. On
// Linux RUNAR_POSIX_UDP chooses this file instead of the other one, so that it is tested where no Apple system is.
#if !defined(__linux__) || defined(RUNAR_POSIX_UDP)
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "system.h"

// The least room in a socket that is worth asking for.
enum { RQ_SMALLEST_BUFFER = 64 << 10 };

static bool prepare(int descriptor) {
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

int rq_system_socket(int family) {
    int descriptor = socket(family, SOCK_DGRAM, 0);
    if (descriptor >= 0 && !prepare(descriptor)) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

// Apple's kernel refuses a size above its limit instead of clamping it.
static void set_buffer(int descriptor, int option) {
    for (int size = RQ_SOCKET_BUFFER; size >= RQ_SMALLEST_BUFFER; size /= 2) {
        if (setsockopt(descriptor, SOL_SOCKET, option, &size, sizeof(size)) == 0) return;
    }
}

void rq_system_tune(rq_udp *udp, bool is_ipv6) {
    int descriptor = udp->descriptor;
    if (is_ipv6) {
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
#if defined(IPV6_MTU_DISCOVER)
        rq_set_option(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
#endif
    } else {
        // Linux and Apple's systems have the same structure behind this; the older IP_RECVDSTADDR could not send.
        rq_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
        rq_set_option(descriptor, IPPROTO_IP, IP_RECVTOS, 1);
#if defined(IP_DONTFRAG)
        rq_set_option(descriptor, IPPROTO_IP, IP_DONTFRAG, 1);
#else
        rq_set_option(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
#endif
    }
    set_buffer(descriptor, SO_RCVBUF);
    set_buffer(descriptor, SO_SNDBUF);
}

struct rq_batch {
    struct sockaddr_storage name;
    _Alignas(struct cmsghdr) uint8_t control[RQ_CONTROL_ROOM];
    rq_incoming incoming[RQ_BATCH_LENGTH];
    uint8_t room[RQ_BATCH_LENGTH][RQ_GSO_ROOM];
};

rq_batch *rq_batch_new(void) { return calloc(1, sizeof(rq_batch)); }
void rq_batch_free(rq_batch *batch) { free(batch); }
const rq_incoming *rq_batch_incoming(const rq_batch *batch, int index) { return &batch->incoming[index]; }

int rq_udp_receive(rq_udp *udp, rq_batch *batch) {
    int count = 0;
    while (count < RQ_BATCH_LENGTH) {
        struct iovec vector = {batch->room[count], RQ_GSO_ROOM};
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
        batch->incoming[count] = (rq_incoming){.bytes = batch->room[count], .length = (size_t)length};
        rq_incoming_describe(&batch->incoming[count], udp, &message);
        count++;
    }
    return count;
}

bool rq_system_open_waker(int ends[2]) {
    if (pipe(ends) != 0) return false;
    if (prepare(ends[0]) && prepare(ends[1])) return true;
    close(ends[0]);
    close(ends[1]);
    return false;
}

int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout) {
    // Up to the next millisecond: a wait that ends too early would be followed by another one of no time at all.
    uint64_t milliseconds = timeout / 1000000u + (timeout % 1000000u != 0);
    bool is_bounded = timeout != UINT64_MAX;
    int wait = !is_bounded ? -1 : milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
    return poll(descriptors, (nfds_t)count, wait);
}

void rq_system_prepare_thread(void) {
#if defined(__APPLE__)
    (void)pthread_setname_np("quic");
#endif
}
#endif

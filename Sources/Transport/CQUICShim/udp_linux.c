// Sockets, wake-ups and the clock on Linux: trains of datagrams in one system call both ways.
// Everything that only Linux has stands in this one file; Apple systems need a twin of it, which is not written yet.
#if defined(__linux__)
#include <errno.h>
#include <limits.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { RQ_BATCH_TRAINS = 16, RQ_TRAIN_ROOM = 65536, RQ_SOCKET_BUFFER = 4 << 20, RQ_CONTROL_ROOM = 128 };

struct rq_udp {
    int descriptor;
    rq_addr bound;
    bool has_segmentation;
    rq_fault fault;
    void *fault_context;
    // A train that the socket had no room for.
    uint8_t *parked;
    size_t parked_length, parked_segment;
    rq_addr parked_from, parked_to;
    uint8_t parked_ecn;
    rq_udp_counters counters;
};

static void set(int descriptor, int level, int option, int value) {
    // What an older kernel does not know is left out; the transport works without.
    (void)setsockopt(descriptor, level, option, &value, sizeof(value));
}

static void set_buffer(int descriptor, int forced, int plain) {
    int size = RQ_SOCKET_BUFFER;
    // The forced form needs a privilege and passes the system's limit; the plain one is cut to it.
    if (setsockopt(descriptor, SOL_SOCKET, forced, &size, sizeof(size)) != 0) set(descriptor, SOL_SOCKET, plain, size);
}

static void set_options(int descriptor, bool is_ipv6) {
    if (is_ipv6) {
        set(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        set(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        set(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        set(descriptor, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
    } else {
        set(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
        set(descriptor, IPPROTO_IP, IP_RECVTOS, 1);
        set(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    }
    set(descriptor, IPPROTO_UDP, UDP_GRO, 1);
    set_buffer(descriptor, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF);
}

rq_udp *rq_udp_bind(rq_addr *address, int *error) {
    ngtcp2_sockaddr_union system;
    socklen_t size = rq_addr_to_system(address, &system);
    rq_udp *udp = calloc(1, sizeof(*udp));
    *error = ENOMEM;
    if (udp == NULL) return NULL;
    bool is_ipv6 = address->family == 6;
    udp->descriptor = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (udp->descriptor < 0) {
        *error = errno;
        free(udp);
        return NULL;
    }
    if (is_ipv6) set(udp->descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(udp->descriptor, &system.sa, size) != 0 || getsockname(udp->descriptor, &system.sa, &size) != 0) {
        *error = errno;
        rq_udp_free(udp);
        return NULL;
    }
    set_options(udp->descriptor, is_ipv6);
    int none = 0;
    udp->has_segmentation = setsockopt(udp->descriptor, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)) == 0;
    rq_addr_from_system(address, &system.sa);
    udp->bound = *address;
    return udp;
}

void rq_udp_free(rq_udp *udp) {
    if (udp == NULL) return;
    close(udp->descriptor);
    free(udp->parked);
    free(udp);
}

int rq_udp_descriptor(const rq_udp *udp) { return udp->descriptor; }
rq_udp_counters rq_udp_count(const rq_udp *udp) { return udp->counters; }
void rq_udp_set_offload(rq_udp *udp, bool segmentation) { udp->has_segmentation = segmentation; }
bool rq_udp_has_segmentation(const rq_udp *udp) { return udp->has_segmentation; }
bool rq_udp_is_blocked(const rq_udp *udp) { return udp->parked_length > 0; }

void rq_udp_set_fault(rq_udp *udp, rq_fault fault, void *context) {
    udp->fault = fault;
    udp->fault_context = context;
}

static void add_control(struct msghdr *message, int level, int type, const void *value, size_t size) {
    struct cmsghdr *header = (struct cmsghdr *)(void *)((uint8_t *)message->msg_control + message->msg_controllen);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), value, size);
    message->msg_controllen += CMSG_SPACE(size);
}

static bool is_any(const rq_addr *address) {
    static const uint8_t zero[16];
    return address == NULL || address->family == 0 || memcmp(address->ip, zero, 16) == 0;
}

static void add_source(struct msghdr *message, const rq_addr *from) {
    if (is_any(from)) return;
    if (from->family == 6) {
        struct in6_pktinfo info = {.ipi6_ifindex = from->scope};
        memcpy(&info.ipi6_addr, from->ip, 16);
        add_control(message, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
    } else {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, from->ip, 4);
        add_control(message, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
    }
}

// Hands one train to the kernel; returns 0 or an errno.
static int hand_over(rq_udp *udp, const rq_addr *from, const rq_addr *to, uint8_t ecn, const uint8_t *bytes,
                     size_t length, size_t segment) {
    _Alignas(struct cmsghdr) uint8_t control[RQ_CONTROL_ROOM];
    ngtcp2_sockaddr_union address;
    struct iovec vector = {(void *)(uintptr_t)bytes, length};
    struct msghdr message = {0};
    size_t segments = (length + segment - 1) / segment;
    if (udp->fault != NULL) {
        int injected = udp->fault(udp->fault_context, to, length, segments);
        if (injected != 0) return injected;
    }
    memset(control, 0, sizeof(control));
    message.msg_namelen = rq_addr_to_system(to, &address);
    message.msg_name = &address;
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    add_source(&message, from);
    if (ecn != 0) {
        int mark = ecn;
        if (to->family == 6) add_control(&message, IPPROTO_IPV6, IPV6_TCLASS, &mark, sizeof(mark));
        else add_control(&message, IPPROTO_IP, IP_TOS, &mark, sizeof(mark));
    }
    if (segments > 1) {
        uint16_t size = (uint16_t)segment;
        add_control(&message, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
    }
    if (message.msg_controllen == 0) message.msg_control = NULL;
    while (sendmsg(udp->descriptor, &message, 0) < 0) {
        if (errno != EINTR) return errno;
    }
    udp->counters.sent_trains++;
    udp->counters.sent_datagrams += segments;
    return 0;
}

static bool park(rq_udp *udp, const rq_addr *from, const rq_addr *to, uint8_t ecn, const uint8_t *bytes,
                 size_t length, size_t segment) {
    if (udp->parked_length > 0 || length > RQ_TRAIN_ROOM) return false;
    if (udp->parked == NULL) udp->parked = malloc(RQ_TRAIN_ROOM);
    if (udp->parked == NULL) return false;
    memcpy(udp->parked, bytes, length);
    udp->parked_length = length;
    udp->parked_segment = segment;
    udp->parked_from = from != NULL ? *from : (rq_addr){0};
    udp->parked_to = *to;
    udp->parked_ecn = ecn;
    return true;
}

int rq_udp_send(rq_udp *udp, const rq_addr *from, const rq_addr *to, uint8_t ecn, const uint8_t *bytes, size_t length,
                size_t segment) {
    int result = RQ_OK;
    if (segment == 0 || segment > length) segment = length;
    size_t step = udp->has_segmentation ? length : segment;
    for (size_t offset = 0; offset < length;) {
        size_t piece = length - offset < step ? length - offset : step;
        int error = hand_over(udp, from, to, ecn, bytes + offset, piece, segment);
        if (error == EAGAIN || error == EWOULDBLOCK) {
            if (park(udp, from, to, ecn, bytes + offset, length - offset, segment)) return result;
        } else if ((error == EIO || error == EINVAL) && piece > segment && udp->has_segmentation) {
            // No checksum offload on the way out (some tunnels, some cards): from now on one by one.
            udp->has_segmentation = false;
            udp->counters.offload_fallbacks++;
            step = segment;
            continue;
        }
        if (error != 0) {
            udp->counters.send_errors++;
            result = RQ_FAILED;
        }
        offset += piece;
    }
    return result;
}

void rq_udp_flush(rq_udp *udp) {
    if (udp->parked_length == 0) return;
    size_t length = udp->parked_length;
    udp->parked_length = 0;
    uint8_t *bytes = udp->parked;
    udp->parked = NULL;
    rq_addr from = udp->parked_from, to = udp->parked_to;
    (void)rq_udp_send(udp, &from, &to, udp->parked_ecn, bytes, length, udp->parked_segment);
    if (udp->parked == NULL) udp->parked = bytes;
    else free(bytes);
}

struct rq_batch {
    struct mmsghdr messages[RQ_BATCH_TRAINS];
    struct iovec vectors[RQ_BATCH_TRAINS];
    struct sockaddr_storage names[RQ_BATCH_TRAINS];
    _Alignas(struct cmsghdr) uint8_t controls[RQ_BATCH_TRAINS][RQ_CONTROL_ROOM];
    rq_train trains[RQ_BATCH_TRAINS];
    uint8_t *room;
};

rq_batch *rq_batch_new(void) {
    rq_batch *batch = calloc(1, sizeof(*batch));
    if (batch == NULL) return NULL;
    batch->room = malloc((size_t)RQ_BATCH_TRAINS * RQ_TRAIN_ROOM);
    if (batch->room == NULL) {
        free(batch);
        return NULL;
    }
    for (size_t i = 0; i < RQ_BATCH_TRAINS; i++) {
        batch->vectors[i] = (struct iovec){batch->room + i * RQ_TRAIN_ROOM, RQ_TRAIN_ROOM};
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

const rq_train *rq_batch_train(const rq_batch *batch, int index) { return &batch->trains[index]; }

static void read_control(const rq_udp *udp, struct msghdr *message, rq_train *train) {
    int segment = 0, mark = 0;
    train->destination = udp->bound;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
            memcpy(&segment, CMSG_DATA(header), sizeof(segment));
        } else if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof(info));
            memcpy(train->destination.ip, &info.ipi_addr, 4);
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof(info));
            memcpy(train->destination.ip, &info.ipi6_addr, 16);
            bool is_link_local = train->destination.ip[0] == 0xfe && (train->destination.ip[1] & 0xc0) == 0x80;
            train->destination.scope = is_link_local ? info.ipi6_ifindex : 0;
        } else if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TOS) {
            train->ecn = *CMSG_DATA(header) & 3;
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS) {
            memcpy(&mark, CMSG_DATA(header), sizeof(mark));
            train->ecn = (uint8_t)(mark & 3);
        }
    }
    train->segment = segment > 0 ? (size_t)segment : train->length;
}

int rq_udp_receive(rq_udp *udp, rq_batch *batch) {
    for (size_t i = 0; i < RQ_BATCH_TRAINS; i++) {
        batch->messages[i].msg_hdr.msg_namelen = sizeof(batch->names[i]);
        batch->messages[i].msg_hdr.msg_controllen = RQ_CONTROL_ROOM;
        batch->messages[i].msg_hdr.msg_flags = 0;
    }
    // An error here belongs to some earlier datagram (ICMP) and says nothing about the socket.
    int count = recvmmsg(udp->descriptor, batch->messages, RQ_BATCH_TRAINS, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        rq_train *train = &batch->trains[i];
        *train = (rq_train){.bytes = batch->vectors[i].iov_base, .length = batch->messages[i].msg_len};
        rq_addr_from_system(&train->source, (const struct sockaddr *)(const void *)&batch->names[i]);
        read_control(udp, &batch->messages[i].msg_hdr, train);
        udp->counters.received_datagrams += train->segment > 0 ? (train->length + train->segment - 1) / train->segment
                                                               : 1;
    }
    return count > 0 ? count : 0;
}

int rq_route(const rq_addr *remote, uint16_t local_port, rq_addr *local) {
    ngtcp2_sockaddr_union address;
    socklen_t size = rq_addr_to_system(remote, &address);
    int probe = socket(address.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;
    if (probe < 0) return errno;
    if (connect(probe, &address.sa, size) != 0) error = errno;
    size = sizeof(address);
    if (error == 0 && getsockname(probe, &address.sa, &size) != 0) error = errno;
    close(probe);
    if (error == 0) {
        rq_addr_from_system(local, &address.sa);
        local->port = local_port;
    }
    return error;
}

uint64_t rq_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef struct thread_start {
    void (*body)(void *);
    void *context;
} thread_start;

static void *thread_main(void *raw) {
    thread_start start = *(thread_start *)raw;
    free(raw);
    // The default slack of 50 us would round our pacing up.
    (void)prctl(PR_SET_TIMERSLACK, 1000ul);
    (void)prctl(PR_SET_NAME, "quic");
    start.body(start.context);
    return NULL;
}

int rq_thread_start(void (*body)(void *), void *context) {
    pthread_t thread;
    thread_start *start = malloc(sizeof(*start));
    if (start == NULL) return ENOMEM;
    *start = (thread_start){body, context};
    int error = pthread_create(&thread, NULL, thread_main, start);
    if (error != 0) free(start);
    else pthread_detach(thread);
    return error;
}

struct rq_waker {
    int descriptor;
};

rq_waker *rq_waker_new(void) {
    rq_waker *waker = malloc(sizeof(*waker));
    if (waker == NULL) return NULL;
    waker->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (waker->descriptor >= 0) return waker;
    free(waker);
    return NULL;
}

void rq_waker_free(rq_waker *waker) {
    if (waker == NULL) return;
    close(waker->descriptor);
    free(waker);
}

void rq_waker_wake(rq_waker *waker) {
    uint64_t one = 1;
    // It only fails when the counter is full, and then the loop is awake anyway.
    ssize_t written = write(waker->descriptor, &one, sizeof(one));
    (void)written;
}

uint32_t rq_waker_wait(rq_waker *waker, rq_udp *const *sockets, size_t count, uint64_t timeout) {
    struct pollfd descriptors[9];
    struct timespec wait = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};
    uint32_t readable = 0;
    if (count > 8) count = 8;
    descriptors[0] = (struct pollfd){waker->descriptor, POLLIN, 0};
    for (size_t i = 0; i < count; i++) {
        short events = (short)(POLLIN | (sockets[i]->parked_length > 0 ? POLLOUT : 0));
        descriptors[i + 1] = (struct pollfd){sockets[i]->descriptor, events, 0};
    }
    if (ppoll(descriptors, count + 1, timeout == UINT64_MAX ? NULL : &wait, NULL) <= 0) return 0;
    if (descriptors[0].revents != 0) {
        uint64_t ignored;
        ssize_t taken = read(waker->descriptor, &ignored, sizeof(ignored));
        (void)taken;
    }
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i + 1].revents & POLLOUT) rq_udp_flush(sockets[i]);
        if (descriptors[i + 1].revents & (POLLIN | POLLERR)) readable |= 1u << i;
    }
    return readable;
}
#endif

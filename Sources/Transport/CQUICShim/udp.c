// The system-independent part of UDP sockets: addresses, control messages, batches that wait for the socket.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

// The control messages with which Linux takes and reports the segment size of a batch (linux/udp.h); other systems have
// none.
enum { RQ_UDP_SEGMENT = 103, RQ_UDP_GRO = 104 };

const char *rq_error_text(int error) { return strerror(error); }

void rq_set_option(int descriptor, int level, int option, int value) {
    (void)setsockopt(descriptor, level, option, &value, sizeof(value));
}

static bool is_any(const rq_addr *address) {
    static const uint8_t zero[16];
    return address == NULL || address->family == 0 || memcmp(address->ip, zero, 16) == 0;
}

rq_udp *rq_udp_bind(rq_addr *address, int *error) {
    ngtcp2_sockaddr_union system;
    socklen_t size = rq_addr_to_system(address, &system);
    rq_udp *udp = calloc(1, sizeof(*udp));
    *error = ENOMEM;
    if (udp == NULL) return NULL;
    bool is_ipv6 = address->family == 6;
    udp->descriptor = rq_system_socket(system.sa.sa_family);
    if (udp->descriptor < 0) {
        *error = errno;
        free(udp);
        return NULL;
    }
    if (is_ipv6) rq_set_option(udp->descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(udp->descriptor, &system.sa, size) != 0 || getsockname(udp->descriptor, &system.sa, &size) != 0) {
        *error = errno;
        rq_udp_free(udp);
        return NULL;
    }
    rq_system_tune(udp, is_ipv6);
    rq_addr_from_system(address, &system.sa);
    udp->bound = *address;
    udp->is_wildcard = is_any(address);
    return udp;
}

void rq_udp_free(rq_udp *udp) {
    if (udp == NULL) return;
    close(udp->descriptor);
    free(udp->parked);
    free(udp);
}

int rq_udp_descriptor(const rq_udp *udp) { return udp->descriptor; }
void rq_udp_stop_segmentation(rq_udp *udp) { udp->has_segmentation = false; }
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

// Apple's kernel forgets the bound address of a socket that also gets one in a control message.
static void add_source(const rq_udp *udp, struct msghdr *message, const rq_addr *from) {
    if (!udp->is_wildcard || is_any(from)) return;
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

// Hands one batch to the kernel; returns 0 or an errno.
static int hand_over(rq_udp *udp, const rq_addr *from, const rq_addr *to, uint8_t ecn, const uint8_t *bytes,
                     size_t length, size_t segment) {
    _Alignas(struct cmsghdr) uint8_t control[RQ_CONTROL_ROOM];
    ngtcp2_sockaddr_union address;
    struct iovec vector = {(void *)(uintptr_t)bytes, length};
    struct msghdr message = {0};
    size_t segments = (length + segment - 1) / segment;
    if (udp->fault != NULL) {
        int injected = udp->fault(udp->fault_context, to, bytes, length, segment);
        if (injected != 0) return injected;
    }
    memset(control, 0, sizeof(control));
    message.msg_namelen = rq_addr_to_system(to, &address);
    message.msg_name = &address;
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    add_source(udp, &message, from);
    if (ecn != 0) {
        int mark = ecn;
        if (to->family == 6) add_control(&message, IPPROTO_IPV6, IPV6_TCLASS, &mark, sizeof(mark));
        else add_control(&message, IPPROTO_IP, IP_TOS, &mark, sizeof(mark));
    }
    if (segments > 1) {
        uint16_t size = (uint16_t)segment;
        add_control(&message, IPPROTO_UDP, RQ_UDP_SEGMENT, &size, sizeof(size));
    }
    if (message.msg_controllen == 0) message.msg_control = NULL;
    while (sendmsg(udp->descriptor, &message, 0) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

static bool park(rq_udp *udp, const rq_addr *from, const rq_addr *to, uint8_t ecn, const uint8_t *bytes,
                 size_t length, size_t segment) {
    if (udp->parked_length > 0 || length > RQ_GSO_ROOM) return false;
    if (udp->parked == NULL) udp->parked = malloc(RQ_GSO_ROOM);
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
    bool is_doubted = false;
    for (size_t offset = 0; offset < length;) {
        size_t piece = length - offset < step ? length - offset : step;
        int error = hand_over(udp, from, to, ecn, bytes + offset, piece, segment);
        if (error == EAGAIN || error == EWOULDBLOCK) {
            if (park(udp, from, to, ecn, bytes + offset, length - offset, segment)) return result;
        } else if ((error == EIO || error == EINVAL) && piece > segment) {
            // Either no checksum offload on the outgoing interface (some tunnels, some cards), or an address that was
            // removed.
            step = segment;
            is_doubted = true;
            continue;
        }
        // The datagrams are sent one by one: the offload was the cause, and stays off from now on.
        if (error == 0 && is_doubted) udp->has_segmentation = false;
        if (error != 0) result = RQ_FAILED;
        offset += piece;
    }
    return result;
}

int rq_udp_send_wrapped(rq_udp *udp, const rq_addr *from, const rq_addr *to, const uint8_t *header,
                        const uint8_t *bytes, size_t length, size_t segment, size_t skipped) {
    static _Thread_local uint8_t batch[RQ_GSO_BYTES];
    int result = RQ_OK;
    if (segment <= skipped || segment - skipped + RQ_CHANNEL_HEADER > sizeof(batch)) return RQ_FAILED;
    size_t stride = segment - skipped + RQ_CHANNEL_HEADER, filled = 0;
    for (size_t offset = 0; offset < length; offset += segment) {
        size_t piece = length - offset < segment ? length - offset : segment;
        if (piece <= skipped) break;
        if (filled + stride > sizeof(batch) || filled / stride == RQ_GSO_SEGMENTS) {
            if (rq_udp_send(udp, from, to, 0, batch, filled, stride) != RQ_OK) result = RQ_FAILED;
            filled = 0;
        }
        memcpy(batch + filled, header, RQ_CHANNEL_HEADER);
        memcpy(batch + filled + RQ_CHANNEL_HEADER, bytes + offset + skipped, piece - skipped);
        filled += piece - skipped + RQ_CHANNEL_HEADER;
    }
    if (filled > 0 && rq_udp_send(udp, from, to, 0, batch, filled, stride) != RQ_OK) result = RQ_FAILED;
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

// Apple's kernel gives the ECN mark of IPv4 under the name of the option that asks for it, Linux under the field's.
static bool is_ipv4_mark(const struct cmsghdr *header) {
    return header->cmsg_level == IPPROTO_IP && (header->cmsg_type == IP_TOS || header->cmsg_type == IP_RECVTOS);
}

void rq_incoming_describe(rq_incoming *batch, const rq_udp *udp, struct msghdr *message) {
    int segment = 0, mark = 0;
    rq_addr_from_system(&batch->source, message->msg_name);
    batch->destination = udp->bound;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == RQ_UDP_GRO) {
            memcpy(&segment, CMSG_DATA(header), sizeof(segment));
        } else if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof(info));
            memcpy(batch->destination.ip, &info.ipi_addr, 4);
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof(info));
            memcpy(batch->destination.ip, &info.ipi6_addr, 16);
            bool is_link_local = batch->destination.ip[0] == 0xfe && (batch->destination.ip[1] & 0xc0) == 0x80;
            batch->destination.scope = is_link_local ? info.ipi6_ifindex : 0;
        } else if (is_ipv4_mark(header)) {
            batch->ecn = *CMSG_DATA(header) & 3;
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS) {
            memcpy(&mark, CMSG_DATA(header), sizeof(mark));
            batch->ecn = (uint8_t)(mark & 3);
        }
    }
    batch->segment = segment > 0 ? (size_t)segment : batch->length;
}

int rq_route(const rq_addr *remote, uint16_t local_port, rq_addr *local) {
    ngtcp2_sockaddr_union address;
    socklen_t size = rq_addr_to_system(remote, &address);
    int probe = rq_system_socket(address.sa.sa_family), error = 0;
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

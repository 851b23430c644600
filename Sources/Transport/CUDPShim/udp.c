// The system-independent part of UDP sockets: addresses, control messages, batches that wait for the socket.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

// The control messages with which Linux takes and reports the segment size of a batch (linux/udp.h); other systems have
// none.
enum { RU_UDP_SEGMENT = 103, RU_UDP_GRO = 104 };

bool ru_prepare(int descriptor) {
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

const char *ru_error_text(int error) { return strerror(error); }

void ru_set_option(int descriptor, int level, int option, int value) {
    (void)setsockopt(descriptor, level, option, &value, sizeof(value));
}

static bool is_any(const ru_addr *address) {
    static const uint8_t zero[16];
    return address == NULL || address->family == 0 || memcmp(address->ip, zero, 16) == 0;
}

// Completes a bound socket; returns NULL with errno in `error`, and leaves the descriptor open then.
static ru_udp *make(int descriptor, const ru_system_addr *bound, ru_addr *address, int *error) {
    ru_udp *udp = calloc(1, sizeof(*udp));
    if (udp == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    udp->descriptor = descriptor;
    ru_system_tune(udp, bound->sa.sa_family == AF_INET6);
    ru_addr_from_system(address, &bound->sa);
    udp->bound = *address;
    udp->is_wildcard = is_any(address);
    return udp;
}

ru_udp *ru_udp_bind(ru_addr *address, int *error) {
    ru_system_addr system;
    socklen_t size = ru_addr_to_system(address, &system.sa);
    int descriptor = ru_system_socket(system.sa.sa_family);
    if (descriptor < 0) {
        *error = errno;
        return NULL;
    }
    if (address->family == 6) ru_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    ru_udp *udp = NULL;
    if (bind(descriptor, &system.sa, size) != 0 || getsockname(descriptor, &system.sa, &size) != 0) *error = errno;
    else udp = make(descriptor, &system, address, error);
    if (udp == NULL) close(descriptor);
    return udp;
}

static bool get_option(int descriptor, int level, int option, int *value) {
    socklen_t size = sizeof(*value);
    return getsockopt(descriptor, level, option, value, &size) == 0;
}

ru_udp *ru_udp_adopt(int descriptor, ru_addr *address, int *error) {
    ru_system_addr system = {0};
    socklen_t size = sizeof(system);
    int type = 0, is_separate = 1;
    if (!get_option(descriptor, SOL_SOCKET, SO_TYPE, &type) || getsockname(descriptor, &system.sa, &size) != 0) {
        *error = errno;
        return NULL;
    }
    bool is_ipv6 = system.sa.sa_family == AF_INET6;
    if (is_ipv6 && !get_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &is_separate)) is_separate = 0;
    bool is_bound = is_ipv6 ? system.in6.sin6_port != 0 : system.in.sin_port != 0;
    if (type != SOCK_DGRAM || !(is_ipv6 || system.sa.sa_family == AF_INET) || !is_bound || is_separate == 0) {
        *error = EINVAL;
        return NULL;
    }
    if (!ru_prepare(descriptor)) {
        *error = errno;
        return NULL;
    }
    return make(descriptor, &system, address, error);
}

void ru_udp_free(ru_udp *udp) {
    if (udp == NULL) return;
    close(udp->descriptor);
    free(udp->parked);
    free(udp);
}

int ru_udp_descriptor(const ru_udp *udp) { return udp->descriptor; }
const ru_addr *ru_udp_address(const ru_udp *udp) { return &udp->bound; }
void ru_udp_allow_fragments(ru_udp *udp) { ru_system_set_fragments(udp, udp->bound.family == 6, true); }
void ru_udp_stop_segmentation(ru_udp *udp) { udp->has_segmentation = false; }
bool ru_udp_is_blocked(const ru_udp *udp) { return udp->parked_length > 0; }

void ru_udp_set_fault(ru_udp *udp, ru_fault fault, void *context) {
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
static void add_source(const ru_udp *udp, struct msghdr *message, const ru_addr *from) {
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
static int hand_over(ru_udp *udp, const ru_addr *from, const ru_addr *to, uint8_t ecn, const uint8_t *bytes,
                     size_t length, size_t segment) {
    _Alignas(struct cmsghdr) uint8_t control[RU_CONTROL_ROOM];
    ru_system_addr address;
    struct iovec vector = {(void *)(uintptr_t)bytes, length};
    struct msghdr message = {0};
    size_t segments = (length + segment - 1) / segment;
    if (udp->fault != NULL) {
        int injected = udp->fault(udp->fault_context, to, bytes, length, segment);
        if (injected != 0) return injected;
    }
    memset(control, 0, sizeof(control));
    message.msg_namelen = ru_addr_to_system(to, &address.sa);
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
        add_control(&message, IPPROTO_UDP, RU_UDP_SEGMENT, &size, sizeof(size));
    }
    if (message.msg_controllen == 0) message.msg_control = NULL;
    while (sendmsg(udp->descriptor, &message, 0) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

static bool park(ru_udp *udp, const ru_addr *from, const ru_addr *to, uint8_t ecn, const uint8_t *bytes,
                 size_t length, size_t segment) {
    if (udp->parked_length > 0 || length > RU_GSO_ROOM) return false;
    if (udp->parked == NULL) udp->parked = malloc(RU_GSO_ROOM);
    if (udp->parked == NULL) return false;
    memcpy(udp->parked, bytes, length);
    udp->parked_length = length;
    udp->parked_segment = segment;
    udp->parked_from = from != NULL ? *from : (ru_addr){0};
    udp->parked_to = *to;
    udp->parked_ecn = ecn;
    return true;
}

int ru_udp_send(ru_udp *udp, const ru_addr *from, const ru_addr *to, uint8_t ecn, const uint8_t *bytes, size_t length,
                size_t segment) {
    int result = 0;
    if (segment == 0 || segment > length) segment = length;
    size_t step = udp->has_segmentation ? length : segment;
    bool lacks_offload = false;
    for (size_t offset = 0; offset < length;) {
        size_t piece = length - offset < step ? length - offset : step;
        int error = hand_over(udp, from, to, ecn, bytes + offset, piece, segment);
        if (error == EAGAIN || error == EWOULDBLOCK) {
            if (park(udp, from, to, ecn, bytes + offset, length - offset, segment)) return result;
        } else if ((error == EIO || error == EINVAL || error == EMSGSIZE) && piece > segment) {
            // EIO is Linux's answer for an outgoing interface without checksum offload (some tunnels, some cards), and
            // EINVAL that for a batch of too many segments, for segments above the MTU (EMSGSIZE from Linux 6.14 on), and
            // for a source address that was removed. Other batches may still leave whole after EINVAL and EMSGSIZE.
            step = segment;
            lacks_offload = error == EIO;
            continue;
        }
        // A datagram of the batch was sent alone: the offload was the cause of EIO, and stays off from now on.
        if (error == 0 && lacks_offload) udp->has_segmentation = false;
        if (error != 0) result = error;
        offset += piece;
    }
    return result;
}

void ru_udp_flush(ru_udp *udp) {
    if (udp->parked_length == 0) return;
    size_t length = udp->parked_length;
    udp->parked_length = 0;
    uint8_t *bytes = udp->parked;
    udp->parked = NULL;
    ru_addr from = udp->parked_from, to = udp->parked_to;
    (void)ru_udp_send(udp, &from, &to, udp->parked_ecn, bytes, length, udp->parked_segment);
    if (udp->parked == NULL) udp->parked = bytes;
    else free(bytes);
}

// Apple's kernel gives the ECN mark of IPv4 under the name of the option that asks for it, Linux under the field's.
static bool is_ipv4_mark(const struct cmsghdr *header) {
    return header->cmsg_level == IPPROTO_IP && (header->cmsg_type == IP_TOS || header->cmsg_type == IP_RECVTOS);
}

void ru_incoming_describe(ru_incoming *batch, const ru_udp *udp, struct msghdr *message) {
    int segment = 0, mark = 0;
    ru_addr_from_system(&batch->source, message->msg_name);
    batch->destination = udp->bound;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == RU_UDP_GRO) {
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

int ru_route(const ru_addr *remote, uint16_t local_port, ru_addr *local) {
    ru_system_addr address;
    socklen_t size = ru_addr_to_system(remote, &address.sa);
    int probe = ru_system_socket(address.sa.sa_family), error = 0;
    if (probe < 0) return errno;
    if (connect(probe, &address.sa, size) != 0) error = errno;
    size = sizeof(address);
    if (error == 0 && getsockname(probe, &address.sa, &size) != 0) error = errno;
    close(probe);
    if (error == 0) {
        ru_addr_from_system(local, &address.sa);
        local->port = local_port;
    }
    return error;
}

// Netlink sockets and marked UDP sockets.
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctunnelshim.h"

#ifdef __linux__
#include <linux/netlink.h>

// Closes a descriptor and returns the error of the call before.
static int failed(int descriptor) {
    int code = -errno;
    (void)close(descriptor);
    return code;
}

int ct_netlink_open(int milliseconds) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct timeval patience = {milliseconds / 1000, (milliseconds % 1000) * 1000};
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        bind(descriptor, (struct sockaddr *)&address, sizeof(address)) < 0)
        return failed(descriptor);
    // Without extended answers and strict checks (older kernels) the requests work as well.
    int yes = 1;
    (void)setsockopt(descriptor, SOL_NETLINK, NETLINK_CAP_ACK, &yes, sizeof(yes));
    return descriptor;
}

ptrdiff_t ct_netlink_send(int descriptor, const uint8_t *bytes, size_t length) {
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t count;
    do count = sendto(descriptor, bytes, length, 0, (struct sockaddr *)&kernel, sizeof(kernel));
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

ptrdiff_t ct_netlink_receive(int descriptor, uint8_t *room, size_t length) {
    for (;;) {
        struct sockaddr_nl sender = {0};
        socklen_t size = sizeof(sender);
        ssize_t count = recvfrom(descriptor, room, length, MSG_TRUNC, (struct sockaddr *)&sender, &size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (sender.nl_pid != 0) continue;
        return (size_t)count > length ? -EMSGSIZE : count;
    }
}

int ct_udp_open(int family, uint32_t mark, uint16_t *port) {
    int descriptor = socket(family == 6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    if (mark != 0 && setsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0) return failed(descriptor);
    if (family == 6) {
        int yes = 1;
        struct sockaddr_in6 place = {.sin6_family = AF_INET6, .sin6_port = htons(*port), .sin6_addr = in6addr_any};
        socklen_t size = sizeof(place);
        if (setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) < 0 ||
            bind(descriptor, (struct sockaddr *)&place, size) < 0 ||
            getsockname(descriptor, (struct sockaddr *)&place, &size) < 0)
            return failed(descriptor);
        *port = ntohs(place.sin6_port);
    } else {
        struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(*port)};
        socklen_t size = sizeof(place);
        if (bind(descriptor, (struct sockaddr *)&place, size) < 0 ||
            getsockname(descriptor, (struct sockaddr *)&place, &size) < 0)
            return failed(descriptor);
        *port = ntohs(place.sin_port);
    }
    return descriptor;
}

int ct_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}
#else
int ct_netlink_open(int milliseconds) {
    (void)milliseconds;
    return -ENOSYS;
}

ptrdiff_t ct_netlink_send(int descriptor, const uint8_t *bytes, size_t length) {
    (void)descriptor, (void)bytes, (void)length;
    return -ENOSYS;
}

ptrdiff_t ct_netlink_receive(int descriptor, uint8_t *room, size_t length) {
    (void)descriptor, (void)room, (void)length;
    return -ENOSYS;
}

int ct_udp_open(int family, uint32_t mark, uint16_t *port) {
    (void)family, (void)mark, (void)port;
    return -ENOSYS;
}

int ct_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return -errno;
    for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}
#endif

// TUN queues: creation, offloads, reads and vectored writes.
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctunnelshim.h"

#ifndef EBADFD
#define EBADFD EBADF
#endif

static int outcome(int status) { return status < 0 ? -errno : status; }

// The negated error of a read or write. An interface that was removed has an error of its own on Linux.
static int failure(void) { return errno == EBADFD ? -EBADF : -errno; }

#ifdef __linux__
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

_Static_assert(IFNAMSIZ == CT_NAME_ROOM, "the room for a name");
_Static_assert(TUN_F_CSUM == CT_CHECKSUM && TUN_F_TSO4 == CT_TCP4 && TUN_F_TSO6 == CT_TCP6, "the offloads");

int ct_tun_open(char name[CT_NAME_ROOM], int properties) {
    int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct ifreq request = {0};
    memcpy(request.ifr_name, name, CT_NAME_ROOM - 1);
    int flags = IFF_TUN | IFF_NO_PI;
    if (properties & CT_HAS_HEADER) flags |= IFF_VNET_HDR;
    if (properties & CT_HAS_QUEUES) flags |= IFF_MULTI_QUEUE;
    request.ifr_flags = (short)flags;
    if (ioctl(descriptor, TUNSETIFF, &request) < 0) {
        int code = -errno;
        (void)close(descriptor);
        return code;
    }
    memcpy(name, request.ifr_name, CT_NAME_ROOM);
    name[CT_NAME_ROOM - 1] = 0;
    return descriptor;
}

int ct_tun_identify(int descriptor, char name[CT_NAME_ROOM], int *properties) {
    struct ifreq request = {0};
    if (ioctl(descriptor, TUNGETIFF, &request) < 0) return -errno;
    // A device with packet information, or an Ethernet one, has another format.
    if ((request.ifr_flags & (IFF_TUN | IFF_NO_PI)) != (IFF_TUN | IFF_NO_PI)) return -EPROTOTYPE;
    memcpy(name, request.ifr_name, CT_NAME_ROOM);
    name[CT_NAME_ROOM - 1] = 0;
    *properties = ((request.ifr_flags & IFF_VNET_HDR) ? CT_HAS_HEADER : 0) |
                  ((request.ifr_flags & IFF_MULTI_QUEUE) ? CT_HAS_QUEUES : 0);
    return 0;
}

int ct_tun_set_header(int descriptor) {
    int length = CT_HEADER_LENGTH, yes = 1;
    if (ioctl(descriptor, TUNSETVNETHDRSZ, &length) < 0) return -errno;
    return outcome(ioctl(descriptor, TUNSETVNETLE, &yes));
}

int ct_tun_set_offloads(int descriptor, uint32_t offloads) {
    return outcome(ioctl(descriptor, TUNSETOFFLOAD, (unsigned long)offloads));
}
#else
int ct_tun_open(char name[CT_NAME_ROOM], int properties) {
    (void)name, (void)properties;
    return -ENOSYS;
}

int ct_tun_identify(int descriptor, char name[CT_NAME_ROOM], int *properties) {
    (void)descriptor, (void)name, (void)properties;
    return -ENOSYS;
}

int ct_tun_set_header(int descriptor) {
    (void)descriptor;
    return -ENOSYS;
}

int ct_tun_set_offloads(int descriptor, uint32_t offloads) {
    (void)descriptor, (void)offloads;
    return -ENOSYS;
}
#endif

ptrdiff_t ct_read(int descriptor, uint8_t *room, size_t length) {
    ssize_t count;
    do count = read(descriptor, room, length);
    while (count < 0 && errno == EINTR);
    return count < 0 ? failure() : count;
}

ptrdiff_t ct_write(int descriptor, const uint8_t *head, size_t head_length, const uint8_t *base, const ct_piece *pieces,
                   size_t count) {
    struct iovec vectors[CT_PIECE_LIMIT + 1];
    if (count > CT_PIECE_LIMIT) return -E2BIG;
    int used = 0;
    // The cast drops `const`: the kernel only reads.
    if (head_length > 0) vectors[used++] = (struct iovec){(void *)(uintptr_t)head, head_length};
    for (size_t i = 0; i < count; i++)
        vectors[used++] = (struct iovec){(void *)(uintptr_t)(base + pieces[i].offset), pieces[i].length};
    ssize_t written;
    do written = writev(descriptor, vectors, used);
    while (written < 0 && errno == EINTR);
    return written < 0 ? failure() : written;
}

int ct_set_blocking(int descriptor, bool blocks) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    return outcome(fcntl(descriptor, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK));
}

int ct_set_inherited(int descriptor, bool is_inherited) {
    return outcome(fcntl(descriptor, F_SETFD, is_inherited ? 0 : FD_CLOEXEC));
}

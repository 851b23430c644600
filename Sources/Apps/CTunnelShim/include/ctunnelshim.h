// The system calls of the tunnel that Swift cannot import: ioctl of /dev/net/tun, vectored writes, netlink sockets and
// marked UDP sockets. No type of a kernel header, no macro, no variadic function.
//
// Functions return a descriptor or a count, or the negated error number. On other systems than Linux those for TUN
// devices, netlink and marked sockets return -ENOSYS.
#ifndef CTUNNELSHIM_H
#define CTUNNELSHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Room for the name of an interface with its terminator (IFNAMSIZ), and the length of the header that precedes each
// packet of a device with virtual headers (struct virtio_net_hdr).
enum { CT_NAME_ROOM = 16, CT_HEADER_LENGTH = 10 };

// The properties of a device.
enum { CT_HAS_HEADER = 1, CT_HAS_QUEUES = 2 };

// The offloads of TUNSETOFFLOAD, which have the kernel's own values.
enum { CT_CHECKSUM = 0x01, CT_TCP4 = 0x02, CT_TCP6 = 0x04, CT_UDP4 = 0x20, CT_UDP6 = 0x40 };

// ---- The device ----------------------------------------------------------------------------------------------------

// Opens one queue of a TUN interface without packet information; creates the interface with the first one. `name` is
// the wanted name, empty for one of the kernel's choice, and is overwritten with the real name.
int ct_tun_open(char name[CT_NAME_ROOM], int properties);

// Reads the name and the properties of the device that a descriptor belongs to.
int ct_tun_identify(int descriptor, char name[CT_NAME_ROOM], int *properties);

// Sets the length of the virtual header and its byte order (little endian).
int ct_tun_set_header(int descriptor);

// Replaces the set of offloads. The kernel refuses the whole set if it lacks one of them.
int ct_tun_set_offloads(int descriptor, uint32_t offloads);

// A piece of the memory that a frame is gathered from.
typedef struct ct_piece {
    uint32_t offset;
    uint32_t length;
} ct_piece;

// The most pieces of one frame.
enum { CT_PIECE_LIMIT = 130 };

ptrdiff_t ct_read(int descriptor, uint8_t *room, size_t length);

// Writes one frame: a head, then pieces of `base`. The caller has checked that the pieces are inside `base`.
ptrdiff_t ct_write(int descriptor, const uint8_t *head, size_t head_length, const uint8_t *base, const ct_piece *pieces,
                   size_t count);

// Makes a descriptor blocking or not, and inherited by a new program or not.
int ct_set_blocking(int descriptor, bool blocks);
int ct_set_inherited(int descriptor, bool is_inherited);

// ---- Sockets -------------------------------------------------------------------------------------------------------

// Opens a socket of the routing family that waits at most `milliseconds` for an answer.
int ct_netlink_open(int milliseconds);
ptrdiff_t ct_netlink_send(int descriptor, const uint8_t *bytes, size_t length);
// Receives one datagram of the kernel; those of other senders are skipped. A datagram longer than the room is an error.
ptrdiff_t ct_netlink_receive(int descriptor, uint8_t *room, size_t length);

// Opens a UDP socket (family 4 or 6, the latter without IPv4) that never blocks, marks its packets unless `mark` is 0,
// and binds it to a port of all addresses, 0 for one of the kernel's choice, which replaces `port`.
int ct_udp_open(int family, uint32_t mark, uint16_t *port);

// Opens a pair of connected stream sockets that are closed when the process executes another program.
int ct_socket_pair(int ends[2]);

#endif

// Between our flat addresses and those of the system.
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

socklen_t rq_addr_to_system(const rq_addr *address, ngtcp2_sockaddr_union *out) {
    memset(out, 0, sizeof(*out));
    if (address->family == 6) {
        out->in6.sin6_family = AF_INET6;
        out->in6.sin6_port = htons(address->port);
        out->in6.sin6_scope_id = address->scope;
        memcpy(&out->in6.sin6_addr, address->ip, 16);
        return sizeof(out->in6);
    }
    out->in.sin_family = AF_INET;
    out->in.sin_port = htons(address->port);
    memcpy(&out->in.sin_addr, address->ip, 4);
    return sizeof(out->in);
}

void rq_addr_from_system(rq_addr *address, const struct sockaddr *system) {
    memset(address, 0, sizeof(*address));
    if (system->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)system;
        address->family = 6;
        address->port = ntohs(in6->sin6_port);
        address->scope = in6->sin6_scope_id;
        memcpy(address->ip, &in6->sin6_addr, 16);
    } else if (system->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)system;
        address->family = 4;
        address->port = ntohs(in->sin_port);
        memcpy(address->ip, &in->sin_addr, 4);
    }
}

void rq_path_set(ngtcp2_path *path, ngtcp2_sockaddr_union *local, const rq_addr *from,
                 ngtcp2_sockaddr_union *remote, const rq_addr *to) {
    memset(path, 0, sizeof(*path));
    path->local.addrlen = rq_addr_to_system(from, local);
    path->local.addr = &local->sa;
    path->remote.addrlen = rq_addr_to_system(to, remote);
    path->remote.addr = &remote->sa;
}

bool rq_addr_equal(const rq_addr *a, const rq_addr *b) {
    return a->family == b->family && a->port == b->port && a->scope == b->scope && memcmp(a->ip, b->ip, 16) == 0;
}

bool rq_addr_is_channel(const rq_addr *address) {
    static const uint8_t prefix[8] = {1};
    return address->family == 6 && memcmp(address->ip, prefix, sizeof(prefix)) == 0;
}

bool rq_is_family_missing(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL; }

bool rq_is_denied(int error) { return error == EACCES; }

bool rq_outgoing_takes(const rq_outgoing *batch, const rq_outgoing *packet) {
    if (batch->length == 0) return false;
    bool is_same_way = rq_addr_equal(&batch->local, &packet->local) && rq_addr_equal(&batch->remote, &packet->remote) &&
                       batch->ecn == packet->ecn;
    bool is_whole = batch->length % batch->segment == 0;
    bool has_room = batch->length + packet->length <= RQ_GSO_BYTES &&
                    batch->length / batch->segment < RQ_GSO_SEGMENTS;
    return is_same_way && is_whole && has_room && packet->length <= batch->segment;
}

// Addresses, and their forms in the system.
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

uint32_t ru_addr_to_system(const ru_addr *address, struct sockaddr *out) {
    if (address->family == 6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)(void *)out;
        *in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
        in6->sin6_scope_id = address->scope;
        memcpy(&in6->sin6_addr, address->ip, 16);
        return sizeof(*in6);
    }
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)out;
    *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(address->port)};
    memcpy(&in->sin_addr, address->ip, 4);
    return sizeof(*in);
}

void ru_addr_from_system(ru_addr *address, const struct sockaddr *system) {
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

bool ru_addr_equal(const ru_addr *a, const ru_addr *b) {
    return a->family == b->family && a->port == b->port && a->scope == b->scope && memcmp(a->ip, b->ip, 16) == 0;
}

bool ru_is_family_missing(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL; }

bool ru_is_denied(int error) { return error == EACCES; }

bool ru_outgoing_takes(const ru_outgoing *batch, const ru_outgoing *packet) {
    if (batch->length == 0) return false;
    bool is_same_way = ru_addr_equal(&batch->local, &packet->local) && ru_addr_equal(&batch->remote, &packet->remote) &&
                       batch->ecn == packet->ecn;
    bool is_whole = batch->length % batch->segment == 0;
    bool has_room = batch->length + packet->length <= RU_GSO_BYTES &&
                    batch->length / batch->segment < RU_GSO_SEGMENTS;
    return is_same_way && is_whole && has_room && packet->length <= batch->segment;
}

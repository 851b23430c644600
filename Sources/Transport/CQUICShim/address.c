// Paths of the engine: the addresses of both ends.
#include <string.h>

#include "internal.h"

void rq_path_set(ngtcp2_path *path, ngtcp2_sockaddr_union *local, const ru_addr *from,
                 ngtcp2_sockaddr_union *remote, const ru_addr *to) {
    memset(path, 0, sizeof(*path));
    path->local.addrlen = ru_addr_to_system(from, &local->sa);
    path->local.addr = &local->sa;
    path->remote.addrlen = ru_addr_to_system(to, &remote->sa);
    path->remote.addr = &remote->sa;
}

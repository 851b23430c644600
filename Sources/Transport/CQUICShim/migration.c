// Connection migration to another path.
#include "internal.h"

// ngtcp2 identifies a path by its local address, regardless of the remote one. A second path from one local address gets an
// alias port inside ngtcp2, which replaces the real port of arriving packets and is not used for sent ones.
static void tell_apart(rq_conn *conn, ru_addr *local, const ru_addr *remote) {
    ru_addr current;
    rq_conn_local_address(conn, &current);
    if (!ru_addr_equal(local, &current)) {
        if (ru_addr_equal(remote, &conn->alias_remote)) conn->alias_port = 0;
        return;
    }
    conn->port = local->port;
    conn->alias_port = local->port = local->port ^ 0x8000;
    conn->alias_remote = *remote;
}

int rq_conn_migrate(rq_conn *conn, const ru_addr *local, const ru_addr *remote, bool at_once, uint64_t now) {
    // Each attempt consumes a connection ID, and the peer issues new ones only when it responds.
    if (!at_once && conn->is_validating && ru_addr_equal(local, &conn->next_local) &&
        ru_addr_equal(remote, &conn->next_remote)) {
        return RQ_OK;
    }
    ngtcp2_sockaddr_union from, to;
    ngtcp2_path path;
    ru_addr alias = *local;
    tell_apart(conn, &alias, remote);
    rq_path_set(&path, &from, &alias, &to, remote);
    int status = at_once ? ngtcp2_conn_initiate_immediate_migration(conn->engine, &path, rq_clamp(conn, now))
                         : ngtcp2_conn_initiate_migration(conn->engine, &path, rq_clamp(conn, now));
    if (status == NGTCP2_ERR_CONN_ID_BLOCKED) return RQ_NO_ID;
    if (status != 0) return RQ_FAILED;
    conn->next_local = *local;
    conn->next_remote = *remote;
    conn->is_validating = true;
    return RQ_OK;
}

bool rq_conn_take_refused_path(rq_conn *conn, ru_addr *remote) {
    if (!conn->has_refused_path) return false;
    conn->has_refused_path = false;
    *remote = conn->refused_remote;
    return true;
}

// Packets that belong to no connection, and our answers to them. Nothing here keeps state.
#include <string.h>

#include "internal.h"

enum { RQ_RETRY_TOKEN_LIFETIME_SECONDS = 10 };

static rq_cid copy_cid(const uint8_t *bytes, size_t length) {
    rq_cid out = {(uint8_t)length, {0}};
    memcpy(out.bytes, bytes, length);
    return out;
}

static ngtcp2_cid from_cid(const rq_cid *cid) {
    ngtcp2_cid out;
    ngtcp2_cid_init(&out, cid->bytes, cid->length);
    return out;
}

bool rq_packet_destination(const uint8_t *bytes, size_t length, rq_cid *cid, bool *is_long, uint32_t *version) {
    *version = 0;
    *is_long = length > 0 && (bytes[0] & 0x80) != 0;
    if (!*is_long) {
        if (length < 1 + RQ_CID_LENGTH) return false;
        cid->length = RQ_CID_LENGTH;
        memcpy(cid->bytes, bytes + 1, RQ_CID_LENGTH);
        memset(cid->bytes + RQ_CID_LENGTH, 0, sizeof(cid->bytes) - RQ_CID_LENGTH);
        return true;
    }
    if (length < 7 || bytes[5] > 20 || length < 7 + (size_t)bytes[5]) return false;
    *version = (uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 8 | bytes[4];
    *cid = copy_cid(bytes + 6, bytes[5]);
    return true;
}

int rq_packet_classify(const uint8_t *bytes, size_t length, rq_initial *initial) {
    ngtcp2_version_cid ids;
    ngtcp2_pkt_hd header;
    memset(initial, 0, sizeof(*initial));
    if (length == 0) return RQ_PACKET_IGNORED;
    if ((bytes[0] & 0x80) == 0) return RQ_PACKET_UNKNOWN_SHORT;
    // A server must not answer anything shorter, or it would amplify (RFC 9000, section 14.1).
    if (length < NGTCP2_MAX_UDP_PAYLOAD_SIZE) return RQ_PACKET_IGNORED;
    int status = ngtcp2_pkt_decode_version_cid(&ids, bytes, length, RQ_CID_LENGTH);
    if (status != 0 && status != NGTCP2_ERR_VERSION_NEGOTIATION) return RQ_PACKET_IGNORED;
    if (ids.version == 0) return RQ_PACKET_IGNORED;
    if (ids.version != NGTCP2_PROTO_VER_V1) return RQ_PACKET_UNSUPPORTED;
    if (ngtcp2_accept(&header, bytes, length) != 0 || header.type != NGTCP2_PKT_INITIAL) return RQ_PACKET_IGNORED;
    initial->version = header.version;
    initial->destination = copy_cid(header.dcid.data, header.dcid.datalen);
    initial->source = copy_cid(header.scid.data, header.scid.datalen);
#if RQ_NGTCP2_1
    initial->token = header.token;
    initial->token_length = header.tokenlen;
#else
    initial->token = header.token.base;
    initial->token_length = header.token.len;
#endif
    initial->has_token = initial->token_length > 0;
    return RQ_PACKET_INITIAL;
}

bool rq_initial_check_token(rq_initial *initial, const uint8_t secret[RQ_SECRET_LENGTH], const ru_addr *remote,
                            uint64_t now) {
    ngtcp2_sockaddr_union address;
    ngtcp2_cid original, destination = from_cid(&initial->destination);
    socklen_t size = ru_addr_to_system(remote, &address.sa);
    if (initial->token_length == 0 || initial->token[0] != NGTCP2_CRYPTO_TOKEN_MAGIC_RETRY) return false;
    if (ngtcp2_crypto_verify_retry_token(&original, initial->token, initial->token_length, secret, RQ_SECRET_LENGTH,
                                         initial->version, &address.sa, size, &destination,
                                         RQ_RETRY_TOKEN_LIFETIME_SECONDS * NGTCP2_SECONDS, now) != 0) {
        return false;
    }
    initial->original = copy_cid(original.data, original.datalen);
    initial->is_validated = true;
    return true;
}

size_t rq_write_retry(const rq_initial *initial, const uint8_t secret[RQ_SECRET_LENGTH], const ru_addr *remote,
                      uint64_t now, uint8_t *out, size_t size) {
    uint8_t token[NGTCP2_CRYPTO_MAX_RETRY_TOKENLEN];
    ngtcp2_sockaddr_union address;
    socklen_t address_size = ru_addr_to_system(remote, &address.sa);
    rq_cid fresh = {RQ_CID_LENGTH, {0}};
    rq_random(fresh.bytes, fresh.length);
    ngtcp2_cid retry = from_cid(&fresh), original = from_cid(&initial->destination), peer = from_cid(&initial->source);
    ngtcp2_ssize token_length =
        ngtcp2_crypto_generate_retry_token(token, secret, RQ_SECRET_LENGTH, initial->version, &address.sa,
                                           address_size, &retry, &original, now);
    if (token_length < 0) return 0;
    ngtcp2_ssize written = ngtcp2_crypto_write_retry(out, size, initial->version, &peer, &retry, &original, token,
                                                     (size_t)token_length);
    return written > 0 ? (size_t)written : 0;
}

size_t rq_write_version_negotiation(const uint8_t *bytes, size_t length, uint8_t *out, size_t size) {
    static const uint32_t versions[] = {NGTCP2_PROTO_VER_V1};
    ngtcp2_version_cid ids;
    uint8_t unused;
    int status = ngtcp2_pkt_decode_version_cid(&ids, bytes, length, RQ_CID_LENGTH);
    if (status != 0 && status != NGTCP2_ERR_VERSION_NEGOTIATION) return 0;
    rq_random(&unused, 1);
    // The fixed bit is set although its value is free here, for devices that demultiplex by it (RFC 9443).
    ngtcp2_ssize written = ngtcp2_pkt_write_version_negotiation(out, size, unused | 0x40, ids.scid, ids.scidlen,
                                                                ids.dcid, ids.dcidlen, versions, 1);
    return written > 0 ? (size_t)written : 0;
}

size_t rq_write_stateless_reset(const rq_cid *cid, const uint8_t secret[RQ_SECRET_LENGTH], size_t received,
                                uint8_t *out, size_t size) {
    uint8_t token[NGTCP2_STATELESS_RESET_TOKENLEN], noise[32];
    ngtcp2_cid ours = from_cid(cid);
    // Shorter than the received packet, or two endpoints would reset each other endlessly (RFC 9000, section 10.3.3).
    if (received < 22 + NGTCP2_STATELESS_RESET_TOKENLEN / 2) return 0;
    size_t length = received - 1 < 42 ? received - 1 : 42;
    if (length < NGTCP2_STATELESS_RESET_TOKENLEN + NGTCP2_MIN_STATELESS_RESET_RANDLEN) return 0;
    if (ngtcp2_crypto_generate_stateless_reset_token(token, secret, RQ_SECRET_LENGTH, &ours) != 0) return 0;
    rq_random(noise, sizeof(noise));
    ngtcp2_ssize written = ngtcp2_pkt_write_stateless_reset(out, size, token, noise,
                                                            length - NGTCP2_STATELESS_RESET_TOKENLEN);
    return written > 0 ? (size_t)written : 0;
}

// Datagrams of channels through relays.
#include <string.h>

#include "internal.h"

bool rq_addr_is_channel(const ru_addr *address) {
    static const uint8_t prefix[8] = {1};
    return address->family == 6 && memcmp(address->ip, prefix, sizeof(prefix)) == 0;
}

int rq_udp_send_wrapped(ru_udp *udp, const ru_addr *from, const ru_addr *to, const uint8_t *header,
                        const uint8_t *bytes, size_t length, size_t segment, size_t skipped) {
    static _Thread_local uint8_t batch[RU_GSO_BYTES];
    int result = RQ_OK;
    if (segment <= skipped || segment - skipped + RQ_CHANNEL_HEADER > sizeof(batch)) return RQ_FAILED;
    size_t stride = segment - skipped + RQ_CHANNEL_HEADER, filled = 0;
    for (size_t offset = 0; offset < length; offset += segment) {
        size_t piece = length - offset < segment ? length - offset : segment;
        if (piece <= skipped) break;
        if (filled + stride > sizeof(batch) || filled / stride == RU_GSO_SEGMENTS) {
            if (ru_udp_send(udp, from, to, 0, batch, filled, stride) != 0) result = RQ_FAILED;
            filled = 0;
        }
        memcpy(batch + filled, header, RQ_CHANNEL_HEADER);
        memcpy(batch + filled + RQ_CHANNEL_HEADER, bytes + offset + skipped, piece - skipped);
        filled += piece - skipped + RQ_CHANNEL_HEADER;
    }
    if (filled > 0 && ru_udp_send(udp, from, to, 0, batch, filled, stride) != 0) result = RQ_FAILED;
    return result;
}

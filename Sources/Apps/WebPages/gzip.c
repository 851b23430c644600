#include <limits.h>
#include <zlib.h>

#include "web_pages.h"

// With the head and the end of a gzip file around it (RFC 1952).
static const int gzip_window_bits = 15 + 16;

size_t web_pages_gzip(const unsigned char *bytes, size_t count, unsigned char *room, size_t room_count) {
    z_stream stream = {0};
    size_t made = 0;
    if (count > UINT_MAX || room_count > UINT_MAX) return 0;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window_bits, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY))
        return 0;
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (unsigned int)count;
    stream.next_out = room;
    stream.avail_out = (unsigned int)room_count;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END) made = stream.total_out;
    deflateEnd(&stream);
    return made;
}

/// Files of pages that are embedded in a program, so that it needs no installed files.

#ifndef WEB_PAGES_H
#define WEB_PAGES_H

#include <stddef.h>

/// An embedded file.
typedef struct {
    /// Its path below the folder of the pages.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} web_page;

/// Compresses the bytes into `room` as gzip does and returns the count of compressed bytes; 0 if `room` is too small.
size_t web_pages_gzip(const unsigned char *bytes, size_t count, unsigned char *room, size_t room_count);

#endif

/// The pages of the console, the files of `web/`, embedded in the program, so that it needs no installed files.

#ifndef CONSOLE_PAGES_H
#define CONSOLE_PAGES_H

#include <stddef.h>

/// A file of `web/`.
typedef struct {
    /// Its path below `web/`.
    const char *path;
    const unsigned char *bytes;
    size_t count;
} console_page;

/// All of them, by their paths, and how many there are.
const console_page *console_pages(size_t *count);

/// Puts the bytes into `room` as gzip does and returns how many that makes; 0 if it has no room for them.
size_t console_gzip(const unsigned char *bytes, size_t count, unsigned char *room, size_t room_count);

#endif

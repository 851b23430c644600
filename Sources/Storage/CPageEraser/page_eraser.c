#include "CPageEraser.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// Numbers of the file format, sections 1.3 and 1.6.
#define FILE_HEADER_BYTES 100
#define LARGEST_PAGE_BYTES 65536
// Pages of other kinds begin with the number of a page. In a file of fewer pages than this, its first byte is 0 or 1,
// which is no type of a B-tree page. Larger files are not changed.
#define PAGE_LIMIT 0x02000000

enum state { UNKNOWN, ERASES, PASSES };

struct erasing_file {
    sqlite3_file base;
    enum state state;
    int page_bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *original;
static sqlite3_vfs eraser;
// By the version of the methods of the real file.
static sqlite3_io_methods methods[4];

static struct erasing_file *erasing(sqlite3_file *file) { return (struct erasing_file *)file; }

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((char *)file + sizeof(struct erasing_file)); }

static int number(const unsigned char *bytes) { return bytes[0] << 8 | bytes[1]; }

// MARK: Pages

// Reads the first page's header: the size of pages, their number, and whether pages exist that map pointers
// (auto-vacuum), whose first byte may be that of a B-tree.
static void read_header(struct erasing_file *file, const unsigned char *header) {
    int bytes = number(header + 16);
    file->page_bytes = bytes == 1 ? LARGEST_PAGE_BYTES : bytes;
    bool has_map = header[52] | header[53] | header[54] | header[55];
    bool is_large = header[28] >= PAGE_LIMIT >> 24;
    file->state = has_map || is_large || file->page_bytes < 512 ? PASSES : ERASES;
}

// Finds the unallocated region of a page of a B-tree. Returns false for another page, and for one that is damaged.
static bool find_gap(const unsigned char *page, int size, bool is_first, int *start, int *end) {
    int header = is_first ? FILE_HEADER_BYTES : 0;
    int type = page[header];
    if (type != 2 && type != 5 && type != 10 && type != 13) return false;
    int cells = number(page + header + 3);
    int pointers = header + (type == 2 || type == 5 ? 12 : 8);
    *start = pointers + 2 * cells;
    *end = number(page + header + 5);
    if (*end == 0) *end = LARGEST_PAGE_BYTES;
    if (*start > *end || *end > size) return false;
    for (int index = 0; index < cells; index++) {
        int cell = number(page + pointers + 2 * index);
        if (cell < *end || cell >= size) return false;
    }
    return true;
}

// Reads the header of a file that was not written yet.
static void recognise(sqlite3_file *file) {
    unsigned char header[FILE_HEADER_BYTES];
    if (real(file)->pMethods->xRead(real(file), header, sizeof header, 0) == SQLITE_OK) {
        read_header(erasing(file), header);
    }
}

static int eraser_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct erasing_file *own = erasing(file);
    sqlite3_file *inner = real(file);
    const unsigned char *page = bytes;
    if (offset == 0 && count >= FILE_HEADER_BYTES) read_header(own, page);
    if (own->state == UNKNOWN) recognise(file);
    int start, end;
    bool is_page = own->state == ERASES && count == own->page_bytes && offset % count == 0
        && offset / count < PAGE_LIMIT;
    if (!is_page || !find_gap(page, count, offset == 0, &start, &end)) {
        return inner->pMethods->xWrite(inner, bytes, count, offset);
    }
    unsigned char *copy = malloc((size_t)count);
    if (!copy) return SQLITE_IOERR_NOMEM;
    memcpy(copy, page, (size_t)count);
    memset(copy + start, 0, (size_t)(end - start));
    int code = inner->pMethods->xWrite(inner, copy, count, offset);
    free(copy);
    return code;
}

// MARK: Everything else passes through

static int eraser_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int eraser_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int eraser_truncate(sqlite3_file *file, sqlite3_int64 length) {
    return real(file)->pMethods->xTruncate(real(file), length);
}

static int eraser_sync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }

static int eraser_file_size(sqlite3_file *file, sqlite3_int64 *length) {
    return real(file)->pMethods->xFileSize(real(file), length);
}

static int eraser_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int eraser_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int eraser_check_lock(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int eraser_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int eraser_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int eraser_characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

static int eraser_map(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, address);
}

static int eraser_map_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void eraser_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int eraser_unmap(sqlite3_file *file, int deletes) { return real(file)->pMethods->xShmUnmap(real(file), deletes); }

static int eraser_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **address) {
    return real(file)->pMethods->xFetch(real(file), offset, count, address);
}

static int eraser_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    return real(file)->pMethods->xUnfetch(real(file), offset, address);
}

static const sqlite3_io_methods all_methods = {
    .iVersion = 3,
    .xClose = eraser_close,
    .xRead = eraser_read,
    .xWrite = eraser_write,
    .xTruncate = eraser_truncate,
    .xSync = eraser_sync,
    .xFileSize = eraser_file_size,
    .xLock = eraser_lock,
    .xUnlock = eraser_unlock,
    .xCheckReservedLock = eraser_check_lock,
    .xFileControl = eraser_control,
    .xSectorSize = eraser_sector_size,
    .xDeviceCharacteristics = eraser_characteristics,
    .xShmMap = eraser_map,
    .xShmLock = eraser_map_lock,
    .xShmBarrier = eraser_barrier,
    .xShmUnmap = eraser_unmap,
    .xFetch = eraser_fetch,
    .xUnfetch = eraser_unfetch,
};

static int eraser_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *found) {
    (void)vfs;
    file->pMethods = NULL;
    // Logs, journals and temporary files have no pages of their own.
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return original->xOpen(original, path, file, flags, found);
    // SQLite closes the real file through this one, so it must have methods even after a failure.
    sqlite3_file *inner = real(file);
    inner->pMethods = NULL;
    int code = original->xOpen(original, path, inner, flags, found);
    if (!inner->pMethods) return code;
    erasing(file)->state = UNKNOWN;
    erasing(file)->page_bytes = 0;
    int version = inner->pMethods->iVersion;
    file->pMethods = &methods[version < 1 ? 1 : version > 3 ? 3 : version];
    return code;
}

bool page_eraser_install(void) {
    pthread_mutex_lock(&mutex);
    bool is_installed = original != NULL;
    sqlite3_vfs *found = is_installed ? NULL : sqlite3_vfs_find(NULL);
    if (found) {
        for (int version = 1; version <= 3; version++) {
            methods[version] = all_methods;
            methods[version].iVersion = version;
        }
        original = found;
        eraser = *found;
        eraser.szOsFile = (int)sizeof(struct erasing_file) + found->szOsFile;
        eraser.zName = "page-eraser";
        eraser.pNext = NULL;
        eraser.xOpen = eraser_open;
        is_installed = sqlite3_vfs_register(&eraser, 1) == SQLITE_OK;
        if (!is_installed) original = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return is_installed;
}

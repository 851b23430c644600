#include "CFailingDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The files of one database.
#define FILE_LIMIT 8
#define DISK_LIMIT 16

// A write or a truncation that was not synchronized.
struct change {
    long long offset;
    long long length; // -1: truncation to offset
    unsigned char *bytes;
    struct change *next;
};

struct tracked {
    char *path;
    bool is_safe; // whether the file survives a loss of power
    unsigned char *safe;
    long long safe_length;
    struct change *first, *last;
    int change_count;
};

struct failing_disk {
    char *directory;
    struct tracked files[FILE_LIMIT];
    int file_count;
    long long room; // negative: without limit
    long failing, dying, operations;
    bool is_dead, has_failed;
};

struct shim_file {
    sqlite3_file base;
    failing_disk *disk;
    struct tracked *tracked;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static failing_disk *disks[DISK_LIMIT];
static sqlite3_vfs *original;
static sqlite3_vfs shim;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((char *)file + sizeof(struct shim_file)); }

static struct shim_file *shimmed(sqlite3_file *file) { return (struct shim_file *)file; }

// MARK: Tracking

static void forget_changes(struct tracked *file) {
    while (file->first) {
        struct change *next = file->first->next;
        free(file->first->bytes);
        free(file->first);
        file->first = next;
    }
    file->last = NULL;
    file->change_count = 0;
}

static bool add_change(struct tracked *file, long long offset, const void *bytes, long long length) {
    struct change *change = calloc(1, sizeof *change);
    if (!change) return false;
    change->offset = offset;
    change->length = length;
    if (length > 0) {
        change->bytes = malloc((size_t)length);
        if (!change->bytes) {
            free(change);
            return false;
        }
        memcpy(change->bytes, bytes, (size_t)length);
    }
    if (file->last) file->last->next = change; else file->first = change;
    file->last = change;
    file->change_count += 1;
    return true;
}

static bool resize(struct tracked *file, long long length) {
    if (length > file->safe_length) {
        unsigned char *bytes = realloc(file->safe, (size_t)length);
        if (!bytes) return false;
        memset(bytes + file->safe_length, 0, (size_t)(length - file->safe_length));
        file->safe = bytes;
    }
    file->safe_length = length;
    return true;
}

// Makes the first changes safe, and forgets the others.
static bool keep_changes(struct tracked *file, int count) {
    for (struct change *change = file->first; change && count > 0; change = change->next, count -= 1) {
        if (change->length < 0) {
            if (!resize(file, change->offset)) return false;
            continue;
        }
        long long end = change->offset + change->length;
        if (end > file->safe_length && !resize(file, end)) return false;
        if (change->length > 0) memcpy(file->safe + change->offset, change->bytes, (size_t)change->length);
    }
    forget_changes(file);
    return true;
}

// Reads an existing file as safe.
static void load(struct tracked *file) {
    FILE *stream = fopen(file->path, "rb");
    if (!stream) return;
    file->is_safe = true;
    unsigned char buffer[4096];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, stream)) > 0) {
        long long offset = file->safe_length;
        if (!resize(file, offset + (long long)count)) break;
        memcpy(file->safe + offset, buffer, count);
    }
    fclose(stream);
}

static failing_disk *disk_of(const char *path) {
    for (int index = 0; path && index < DISK_LIMIT; index++) {
        failing_disk *disk = disks[index];
        if (!disk) continue;
        size_t length = strlen(disk->directory);
        if (strncmp(path, disk->directory, length) == 0 && path[length] == '/') return disk;
    }
    return NULL;
}

static struct tracked *tracked_file(failing_disk *disk, const char *path) {
    for (int index = 0; index < disk->file_count; index++) {
        if (strcmp(disk->files[index].path, path) == 0) return &disk->files[index];
    }
    if (disk->file_count == FILE_LIMIT) return NULL;
    struct tracked *file = &disk->files[disk->file_count];
    memset(file, 0, sizeof *file);
    file->path = strdup(path);
    if (!file->path) return NULL;
    load(file);
    disk->file_count += 1;
    return file;
}

enum verdict { GOES_ON, FAILS, DIES };

// Counts an operation and decides its fate.
static enum verdict begin(failing_disk *disk) {
    if (disk->is_dead) return FAILS;
    long number = disk->operations++;
    if (number == disk->failing) {
        disk->has_failed = true;
        return FAILS;
    }
    if (number == disk->dying) {
        disk->has_failed = true;
        disk->is_dead = true;
        return DIES;
    }
    return GOES_ON;
}

// MARK: Files

static int shim_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int shim_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    pthread_mutex_lock(&mutex);
    bool is_dead = shimmed(file)->disk->is_dead;
    pthread_mutex_unlock(&mutex);
    return is_dead ? SQLITE_IOERR_READ : real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int write_locked(struct shim_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *inner = real(&file->base);
    enum verdict verdict = begin(file->disk);
    if (verdict == FAILS) return SQLITE_IOERR_WRITE;
    sqlite3_int64 length = 0;
    int code = inner->pMethods->xFileSize(inner, &length);
    if (code != SQLITE_OK) return code;
    long long growth = offset + count - length;
    if (file->disk->room >= 0 && growth > 0) {
        if (growth > file->disk->room) {
            file->disk->has_failed = true;
            return SQLITE_FULL;
        }
        file->disk->room -= growth;
    }
    if (!add_change(file->tracked, offset, bytes, count)) return SQLITE_NOMEM;
    code = inner->pMethods->xWrite(inner, bytes, count, offset);
    return verdict == DIES ? SQLITE_IOERR_WRITE : code;
}

static int shim_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    pthread_mutex_lock(&mutex);
    int code = write_locked(shimmed(file), bytes, count, offset);
    pthread_mutex_unlock(&mutex);
    return code;
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 length) {
    pthread_mutex_lock(&mutex);
    enum verdict verdict = begin(shimmed(file)->disk);
    int code = SQLITE_IOERR_TRUNCATE;
    if (verdict != FAILS) {
        code = add_change(shimmed(file)->tracked, length, NULL, -1) ? SQLITE_OK : SQLITE_NOMEM;
        if (code == SQLITE_OK) code = real(file)->pMethods->xTruncate(real(file), length);
        if (verdict == DIES) code = SQLITE_IOERR_TRUNCATE;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int shim_sync(sqlite3_file *file, int flags) {
    (void)flags; // the real disk need not be waited for
    pthread_mutex_lock(&mutex);
    enum verdict verdict = begin(shimmed(file)->disk);
    int code = SQLITE_IOERR_FSYNC;
    if (verdict != FAILS) {
        struct tracked *tracked = shimmed(file)->tracked;
        code = keep_changes(tracked, tracked->change_count) ? SQLITE_OK : SQLITE_NOMEM;
        tracked->is_safe = true;
        if (verdict == DIES) code = SQLITE_IOERR_FSYNC;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int shim_file_size(sqlite3_file *file, sqlite3_int64 *length) {
    return real(file)->pMethods->xFileSize(real(file), length);
}

static int shim_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int shim_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int shim_check_lock(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int shim_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int shim_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

// No guarantee beyond those of the model.
static int shim_characteristics(sqlite3_file *file) {
    (void)file;
    return 0;
}

static int shim_map(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extends, address);
}

static int shim_map_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void shim_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int shim_unmap(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_file_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check_lock,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector_size,
    .xDeviceCharacteristics = shim_characteristics,
    .xShmMap = shim_map,
    .xShmLock = shim_map_lock,
    .xShmBarrier = shim_barrier,
    .xShmUnmap = shim_unmap,
};

// MARK: The file system

static int open_locked(const char *path, sqlite3_file *file, int flags, int *found) {
    failing_disk *disk = disk_of(path);
    // Files of other directories are those of the system.
    if (!disk) return original->xOpen(original, path, file, flags, found);
    struct tracked *tracked = tracked_file(disk, path);
    if (!tracked) return SQLITE_CANTOPEN;
    int code = original->xOpen(original, path, real(file), flags, found);
    if (code != SQLITE_OK) return code;
    shimmed(file)->disk = disk;
    shimmed(file)->tracked = tracked;
    file->pMethods = &methods;
    return SQLITE_OK;
}

static int shim_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *found) {
    (void)vfs;
    file->pMethods = NULL;
    pthread_mutex_lock(&mutex);
    int code = open_locked(path, file, flags, found);
    pthread_mutex_unlock(&mutex);
    return code;
}

static int delete_locked(const char *path, int synchronizes) {
    failing_disk *disk = disk_of(path);
    if (!disk) return original->xDelete(original, path, synchronizes);
    enum verdict verdict = begin(disk);
    struct tracked *tracked = tracked_file(disk, path);
    if (verdict == FAILS || !tracked) return SQLITE_IOERR_DELETE;
    int code = original->xDelete(original, path, 0);
    forget_changes(tracked);
    if (synchronizes || !tracked->is_safe) {
        tracked->is_safe = false;
        tracked->safe_length = 0;
    }
    return verdict == DIES ? SQLITE_IOERR_DELETE : code;
}

static int shim_delete(sqlite3_vfs *vfs, const char *path, int synchronizes) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    int code = delete_locked(path, synchronizes);
    pthread_mutex_unlock(&mutex);
    return code;
}

static void install(void) {
    if (original) return;
    original = sqlite3_vfs_find(NULL);
    shim = *original;
    shim.szOsFile = (int)sizeof(struct shim_file) + original->szOsFile;
    shim.zName = "failing-disk";
    shim.pNext = NULL;
    shim.xOpen = shim_open;
    shim.xDelete = shim_delete;
    sqlite3_vfs_register(&shim, 1);
}

// MARK: The disk

failing_disk *failing_disk_create(const char *directory) {
    failing_disk *disk = calloc(1, sizeof *disk);
    if (!disk) return NULL;
    disk->directory = realpath(directory, NULL);
    disk->room = disk->failing = disk->dying = -1;
    pthread_mutex_lock(&mutex);
    install();
    bool has_place = false;
    for (int index = 0; index < DISK_LIMIT && disk->directory && !has_place; index++) {
        if (disks[index]) continue;
        disks[index] = disk;
        has_place = true;
    }
    pthread_mutex_unlock(&mutex);
    if (has_place) return disk;
    free(disk->directory);
    free(disk);
    return NULL;
}

void failing_disk_destroy(failing_disk *disk) {
    pthread_mutex_lock(&mutex);
    for (int index = 0; index < DISK_LIMIT; index++) {
        if (disks[index] == disk) disks[index] = NULL;
    }
    pthread_mutex_unlock(&mutex);
    for (int index = 0; index < disk->file_count; index++) {
        forget_changes(&disk->files[index]);
        free(disk->files[index].path);
        free(disk->files[index].safe);
    }
    free(disk->directory);
    free(disk);
}

static void heal(failing_disk *disk) {
    disk->room = disk->failing = disk->dying = -1;
    disk->operations = 0;
    disk->is_dead = disk->has_failed = false;
}

void failing_disk_heal(failing_disk *disk) {
    pthread_mutex_lock(&mutex);
    heal(disk);
    pthread_mutex_unlock(&mutex);
}

void failing_disk_fill(failing_disk *disk, long long bytes) {
    pthread_mutex_lock(&mutex);
    disk->room = bytes;
    pthread_mutex_unlock(&mutex);
}

void failing_disk_fail(failing_disk *disk, long operation) {
    pthread_mutex_lock(&mutex);
    disk->failing = operation;
    pthread_mutex_unlock(&mutex);
}

void failing_disk_lose_power(failing_disk *disk, long operation) {
    pthread_mutex_lock(&mutex);
    disk->dying = operation;
    pthread_mutex_unlock(&mutex);
}

long failing_disk_operations(const failing_disk *disk) {
    pthread_mutex_lock(&mutex);
    long operations = disk->operations;
    pthread_mutex_unlock(&mutex);
    return operations;
}

bool failing_disk_has_failed(const failing_disk *disk) {
    pthread_mutex_lock(&mutex);
    bool has_failed = disk->has_failed;
    pthread_mutex_unlock(&mutex);
    return has_failed;
}

static bool rewrite(struct tracked *file, enum failing_disk_survivors survivors) {
    int count = 0;
    switch (survivors) {
    case FAILING_DISK_NONE: count = 0; break;
    case FAILING_DISK_HALF: count = file->change_count / 2; break;
    case FAILING_DISK_ALL: count = file->change_count; break;
    }
    if (count > 0) file->is_safe = true;
    if (!keep_changes(file, count)) return false;
    if (!file->is_safe) {
        file->safe_length = 0;
        unlink(file->path); // it may not exist
        return true;
    }
    FILE *stream = fopen(file->path, "wb");
    if (!stream) return false;
    size_t written = fwrite(file->safe, 1, (size_t)file->safe_length, stream);
    return fclose(stream) == 0 && written == (size_t)file->safe_length;
}

bool failing_disk_restore(failing_disk *disk, enum failing_disk_survivors survivors) {
    pthread_mutex_lock(&mutex);
    bool is_done = true;
    for (int index = 0; index < disk->file_count; index++) {
        is_done = rewrite(&disk->files[index], survivors) && is_done;
    }
    heal(disk);
    pthread_mutex_unlock(&mutex);
    return is_done;
}

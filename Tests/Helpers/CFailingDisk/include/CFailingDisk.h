#pragma once

#include <stdbool.h>

// A disk for SQLite in one directory that can be full, fail, or lose power at any write.
//
// The model: the bytes of a file are safe once it was synchronized. Before, the writes since then survive in order up to any
// point. The files are real ones, which are rewritten when the power is restored. It does not model disks that acknowledge a
// synchronization without performing it, nor writes that are reordered.

typedef struct failing_disk failing_disk;

// Creates the disk of a directory, whose files are safe at this moment. NULL if there is no memory.
failing_disk *failing_disk_create(const char *directory);

// Forgets the disk; its files must be closed.
void failing_disk_destroy(failing_disk *disk);

// Removes all faults and counts operations from 0 again.
void failing_disk_heal(failing_disk *disk);

// Limits the growth of the files to this number of bytes; then writes fail with SQLITE_FULL.
void failing_disk_fill(failing_disk *disk, long long bytes);

// Makes the operation of this number fail with SQLITE_IOERR, without an effect.
void failing_disk_fail(failing_disk *disk, long operation);

// Makes the power fail after the operation of this number: it and all later ones return SQLITE_IOERR.
void failing_disk_lose_power(failing_disk *disk, long operation);

// The number of writes, truncations, synchronizations and removals.
long failing_disk_operations(const failing_disk *disk);

// Whether a fault happened.
bool failing_disk_has_failed(const failing_disk *disk);

// The writes that survive a loss of power, of those that were not synchronized.
enum failing_disk_survivors { FAILING_DISK_NONE, FAILING_DISK_HALF, FAILING_DISK_ALL };

// Rewrites the files, which are closed, to the state after a loss of power, and heals the disk. Returns false if the
// system refused.
bool failing_disk_restore(failing_disk *disk, enum failing_disk_survivors survivors);

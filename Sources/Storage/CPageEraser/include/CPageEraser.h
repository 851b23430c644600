#pragma once

#include <stdbool.h>

// A file system for SQLite that writes zeros in place of the unallocated region of every page of a B-tree.
//
// SQLite's `secure_delete` overwrites deleted cells and pages. A page that was split or merged keeps copies of cells that
// moved to another page, between its cell pointers and its cell content (file format, section 1.6). The deletion of
// such a row later overwrites only the cell itself. Here a database file never receives that region, whose content has no
// meaning to SQLite. The log is not changed; an emptied log has nothing. Files of 2^25 pages or more (128 GiB of pages of
// 4 KiB) and files with auto-vacuum are passed on unchanged, because other pages of them may look like B-trees.

// Makes this file system the default one of the process, for databases that are opened from now on. Returns false if
// SQLite refused. Further calls have no effect.
bool page_eraser_install(void);

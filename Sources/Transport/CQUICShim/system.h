// Threads and waiting: the interface between loop.c and the implementations for each system (loop_linux.c; loop_posix.c for
// Apple systems).
#ifndef RQ_SYSTEM_H
#define RQ_SYSTEM_H

#include <poll.h>

#include "internal.h"

// Opens a waker: 8 bytes written to the second end make the first readable. Both ends may be one descriptor.
bool rq_system_open_waker(int ends[2]);
// Waits for the descriptors, at most `timeout` nanoseconds (UINT64_MAX: no limit).
int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout);
// Prepares a new I/O thread, as its first call.
void rq_system_prepare_thread(void);

#endif

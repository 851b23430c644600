// Waiting on systems without eventfd and ppoll, which are Apple's: a pipe for waking up, and waits of milliseconds.
// On Linux RUNAR_POSIX_UDP chooses this file instead of the other one.
#if !defined(__linux__) || defined(RUNAR_POSIX_UDP)
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "system.h"

static bool prepare(int descriptor) {
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0;
}

bool rq_system_open_waker(int ends[2]) {
    if (pipe(ends) != 0) return false;
    if (prepare(ends[0]) && prepare(ends[1])) return true;
    close(ends[0]);
    close(ends[1]);
    return false;
}

int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout) {
    // Up to the next millisecond: a wait that ends too early would be followed by another one of no time at all.
    uint64_t milliseconds = timeout / 1000000u + (timeout % 1000000u != 0);
    bool is_bounded = timeout != UINT64_MAX;
    int wait = !is_bounded ? -1 : milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
    return poll(descriptors, (nfds_t)count, wait);
}

void rq_system_prepare_thread(void) {
#if defined(__APPLE__)
    (void)pthread_setname_np("quic");
#endif
}
#endif

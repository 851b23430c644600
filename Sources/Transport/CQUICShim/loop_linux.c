// The Linux implementation of waiting: one descriptor for waking up, and waits of nanoseconds.
#if defined(__linux__) && !defined(RUNAR_POSIX_UDP)
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "system.h"

bool rq_system_open_waker(int ends[2]) {
    ends[0] = ends[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return ends[0] >= 0;
}

int rq_system_wait(struct pollfd *descriptors, size_t count, uint64_t timeout) {
    struct timespec wait = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};
    return ppoll(descriptors, count, timeout == UINT64_MAX ? NULL : &wait, NULL);
}

void rq_system_prepare_thread(void) {
    // The default slack of 50 us would round our pacing up.
    (void)prctl(PR_SET_TIMERSLACK, 1000ul);
    (void)prctl(PR_SET_NAME, "quic");
}
#endif

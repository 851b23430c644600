// The I/O thread, how it sleeps and how it is woken, and its clock.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "system.h"

// The most sockets of one wait: those of both families, and the further ports of a few searches.
enum { RQ_MAX_SOCKETS = 1026 };

uint64_t rq_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef struct thread_start {
    void (*body)(void *);
    void *context;
} thread_start;

static void *thread_main(void *raw) {
    thread_start start = *(thread_start *)raw;
    free(raw);
    rq_system_prepare_thread();
    start.body(start.context);
    return NULL;
}

int rq_thread_start(void (*body)(void *), void *context) {
    pthread_t thread;
    thread_start *start = malloc(sizeof(*start));
    if (start == NULL) return ENOMEM;
    *start = (thread_start){body, context};
    int error = pthread_create(&thread, NULL, thread_main, start);
    if (error != 0) free(start);
    else pthread_detach(thread);
    return error;
}

struct rq_waker {
    int ends[2];
};

rq_waker *rq_waker_new(void) {
    rq_waker *waker = malloc(sizeof(*waker));
    if (waker == NULL) return NULL;
    if (rq_system_open_waker(waker->ends)) return waker;
    free(waker);
    return NULL;
}

void rq_waker_free(rq_waker *waker) {
    if (waker == NULL) return;
    close(waker->ends[0]);
    if (waker->ends[1] != waker->ends[0]) close(waker->ends[1]);
    free(waker);
}

void rq_waker_wake(rq_waker *waker) {
    uint64_t one = 1;
    // It only fails when many have done the same before, and then the loop is awake anyway.
    ssize_t written = write(waker->ends[1], &one, sizeof(one));
    (void)written;
}

void rq_waker_wait(rq_waker *waker, ru_udp *const *sockets, size_t count, uint64_t timeout, bool *readable) {
    static _Thread_local struct pollfd descriptors[RQ_MAX_SOCKETS + 1];
    memset(readable, 0, count * sizeof(*readable));
    if (count > RQ_MAX_SOCKETS) count = RQ_MAX_SOCKETS;
    descriptors[0] = (struct pollfd){waker->ends[0], POLLIN, 0};
    for (size_t i = 0; i < count; i++) {
        short events = (short)(POLLIN | (ru_udp_is_blocked(sockets[i]) ? POLLOUT : 0));
        descriptors[i + 1] = (struct pollfd){ru_udp_descriptor(sockets[i]), events, 0};
    }
    if (rq_system_wait(descriptors, count + 1, timeout) <= 0) return;
    if (descriptors[0].revents != 0) {
        // Remaining bytes wake the loop once more.
        uint64_t ignored[64];
        ssize_t taken = read(waker->ends[0], ignored, sizeof(ignored));
        (void)taken;
    }
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i + 1].revents & POLLOUT) ru_udp_flush(sockets[i]);
        readable[i] = (descriptors[i + 1].revents & (POLLIN | POLLERR)) != 0;
    }
}

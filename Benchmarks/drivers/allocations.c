/* Counts what a program allocates: LD_PRELOAD=allocations.so PROGRAM. Says the count on the last line of its errors. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ulong count;

void *malloc(size_t size) { atomic_fetch_add(&count, 1); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { atomic_fetch_add(&count, 1); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { atomic_fetch_add(&count, 1); return __libc_realloc(old, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    atomic_fetch_add(&count, 1);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}

__attribute__((destructor)) static void say(void) { fprintf(stderr, "%lu\n", atomic_load(&count)); }

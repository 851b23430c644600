/* Drives iroh 1.2.0 through the C interface of its PyPI wheel (UniFFI, contract 30), so that no interpreter stands in
 * the path of the data. One thread per logical task, each waiting for its futures.
 *
 *   iroh_driver server                               prints {"id","address"}, ends when its input ends
 *   iroh_driver client ID ADDRESS OPERATION N A      prints one JSON object with the result
 *
 * OPERATION: bulk (N MiB in writes of A bytes), roundtrip (N one after the other), parallel (N, A in flight),
 *            handshake (N fresh endpoints, A at a time), idle (N connections held open until the input ends)
 *
 * Every stream begins with a block of 64 bytes. 'E': the block comes back. 'B': everything behind it is counted and the
 * count comes back in 8 bytes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The interface, written down from the types that the wheel's Python binding declares. */

typedef uint64_t Handle;
typedef struct {
    uint64_t capacity, length;
    uint8_t *data;
} Buffer;
typedef struct {
    int8_t code;
    Buffer message;
} Status;
typedef void (*Wake)(uint64_t context, int8_t code);

#define IROH(name) uniffi_iroh_ffi_fn_##name
#define FUTURE(name) ffi_iroh_ffi_rust_future_##name

extern uint32_t ffi_iroh_ffi_uniffi_contract_version(void);
extern Buffer ffi_iroh_ffi_rustbuffer_alloc(uint64_t size, Status *);
extern void ffi_iroh_ffi_rustbuffer_free(Buffer, Status *);

extern void FUTURE(poll_u64)(Handle, Wake, uint64_t);
extern Handle FUTURE(complete_u64)(Handle, Status *);
extern void FUTURE(free_u64)(Handle);
extern void FUTURE(poll_void)(Handle, Wake, uint64_t);
extern void FUTURE(complete_void)(Handle, Status *);
extern void FUTURE(free_void)(Handle);
extern void FUTURE(poll_rust_buffer)(Handle, Wake, uint64_t);
extern Buffer FUTURE(complete_rust_buffer)(Handle, Status *);
extern void FUTURE(free_rust_buffer)(Handle);

extern Handle IROH(constructor_endpointbuilder_new)(Status *);
extern Handle IROH(clone_endpointbuilder)(Handle, Status *);
extern void IROH(free_endpointbuilder)(Handle, Status *);
extern void IROH(method_endpointbuilder_apply_minimal)(Handle, Status *);
extern void IROH(method_endpointbuilder_relay_mode)(Handle, Handle, Status *);
extern void IROH(method_endpointbuilder_bind_addr)(Handle, Buffer, Status *);
extern void IROH(method_endpointbuilder_alpns)(Handle, Buffer, Status *);
extern Handle IROH(method_endpointbuilder_bind)(Handle);
extern Handle IROH(constructor_relaymode_disabled)(Status *);

extern Handle IROH(clone_endpoint)(Handle, Status *);
extern Handle IROH(method_endpoint_id)(Handle, Status *);
extern Buffer IROH(method_endpoint_bound_sockets)(Handle, Status *);
extern Handle IROH(method_endpoint_connect)(Handle, Handle, Buffer);
extern Handle IROH(method_endpoint_accept_next)(Handle);
extern Handle IROH(method_incoming_accept)(Handle);
extern Handle IROH(method_accepting_connect)(Handle);
extern Handle IROH(constructor_endpointid_from_bytes)(Buffer, Status *);
extern Buffer IROH(method_endpointid_to_bytes)(Handle, Status *);
extern Handle IROH(constructor_endpointaddr_new)(Handle, Buffer, Buffer, Status *);
extern Handle IROH(clone_endpointaddr)(Handle, Status *);

extern Handle IROH(clone_connection)(Handle, Status *);
extern void IROH(free_connection)(Handle, Status *);
extern Handle IROH(method_connection_open_bi)(Handle);
extern Handle IROH(method_connection_accept_bi)(Handle);
extern void IROH(method_connection_close)(Handle, int64_t, Buffer, Status *);

extern Handle IROH(clone_bistream)(Handle, Status *);
extern Handle IROH(method_bistream_send)(Handle, Status *);
extern Handle IROH(method_bistream_recv)(Handle, Status *);
extern Handle IROH(clone_sendstream)(Handle, Status *);
extern void IROH(free_sendstream)(Handle, Status *);
extern Handle IROH(method_sendstream_write_all)(Handle, Buffer);
extern Handle IROH(method_sendstream_finish)(Handle);
extern Handle IROH(clone_recvstream)(Handle, Status *);
extern void IROH(free_recvstream)(Handle, Status *);
extern Handle IROH(method_recvstream_read)(Handle, uint32_t);
extern Handle IROH(method_recvstream_read_exact)(Handle, uint32_t);

/* Small tools. */

enum { block_bytes = 64, read_bytes = 1 << 20, maximum_tasks = 256 };
static const char protocol_name[] = "runar-bench/1";

static void fail(const char *what) {
    fprintf(stderr, "iroh_driver: %s\n", what);
    exit(1);
}

static void check(const Status *status, const char *what) {
    if (!status->code) return;
    fprintf(stderr, "iroh_driver: %s: %.*s\n", what, (int)status->message.length, (const char *)status->message.data);
    exit(1);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = value >> (24 - 8 * i);
}

static uint32_t get32(const uint8_t *from) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value = value << 8 | from[i];
    return value;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(double *values, int count, double part) {
    qsort(values, count, sizeof *values, by_value);
    return values[(int)(part * (count - 1) + 0.5)];
}

/* Arguments: plain bytes, or bytes with their length before them as the interface writes sequences. */

static Buffer plain(const void *bytes, uint32_t count) {
    Status status = {0};
    Buffer buffer = ffi_iroh_ffi_rustbuffer_alloc(count, &status);
    check(&status, "allocate");
    memcpy(buffer.data, bytes, count);
    buffer.length = count;
    return buffer;
}

static Buffer counted(const void *bytes, uint32_t count) {
    Status status = {0};
    Buffer buffer = ffi_iroh_ffi_rustbuffer_alloc((uint64_t)count + 4, &status);
    check(&status, "allocate");
    put32(buffer.data, count);
    memcpy(buffer.data + 4, bytes, count);
    buffer.length = (uint64_t)count + 4;
    return buffer;
}

static Buffer list_of_one(const char *text, uint32_t count) {
    uint8_t bytes[256];
    put32(bytes, 1);
    put32(bytes + 4, count);
    memcpy(bytes + 8, text, count);
    return plain(bytes, count + 8);
}

/* Waiting for a future: one semaphore per thread. */

typedef struct {
    sem_t ready;
    volatile int8_t code;
} Waiter;
static __thread Waiter *own_waiter;

static void woken(uint64_t context, int8_t code) {
    Waiter *waiter = (Waiter *)(uintptr_t)context;
    waiter->code = code;
    sem_post(&waiter->ready);
}

static void await(Handle future, void (*poll)(Handle, Wake, uint64_t)) {
    if (!own_waiter) {
        own_waiter = calloc(1, sizeof *own_waiter);
        sem_init(&own_waiter->ready, 0, 0);
    }
    do {
        poll(future, woken, (uintptr_t)own_waiter);
        while (sem_wait(&own_waiter->ready)) {}
    } while (own_waiter->code != 0);
}

/* The handle that the future yields, or 0 when it failed. */
static Handle await_handle(Handle future) {
    Status status = {0};
    await(future, FUTURE(poll_u64));
    Handle handle = FUTURE(complete_u64)(future, &status);
    FUTURE(free_u64)(future);
    return status.code ? 0 : handle;
}

static int await_success(Handle future) {
    Status status = {0};
    await(future, FUTURE(poll_void));
    FUTURE(complete_void)(future, &status);
    FUTURE(free_void)(future);
    return status.code == 0;
}

/* The number of bytes that the future yields, copied to `to` if it is given, or -1 when it failed. */
static int64_t await_bytes(Handle future, uint8_t *to) {
    Status status = {0};
    await(future, FUTURE(poll_rust_buffer));
    Buffer buffer = FUTURE(complete_rust_buffer)(future, &status);
    FUTURE(free_rust_buffer)(future);
    if (status.code) return -1;
    int64_t count = get32(buffer.data);
    if (to) memcpy(to, buffer.data + 4, count);
    ffi_iroh_ffi_rustbuffer_free(buffer, &status);
    return count;
}

/* The handle in an optional one: a byte that says whether it is there, then its 8 bytes. */
static Handle await_optional_handle(Handle future) {
    Status status = {0};
    await(future, FUTURE(poll_rust_buffer));
    Buffer buffer = FUTURE(complete_rust_buffer)(future, &status);
    FUTURE(free_rust_buffer)(future);
    if (status.code || buffer.length != 9 || !buffer.data[0]) return 0;
    Handle handle = (Handle)get32(buffer.data + 1) << 32 | get32(buffer.data + 5);
    ffi_iroh_ffi_rustbuffer_free(buffer, &status);
    return handle;
}

/* Endpoints, connections, streams. */

static Handle bind_endpoint(void) {
    Status status = {0};
    Handle builder = IROH(constructor_endpointbuilder_new)(&status);
    check(&status, "builder");
    IROH(method_endpointbuilder_apply_minimal)(IROH(clone_endpointbuilder)(builder, &status), &status);
    IROH(method_endpointbuilder_relay_mode)
    (IROH(clone_endpointbuilder)(builder, &status), IROH(constructor_relaymode_disabled)(&status), &status);
    const char any_port[] = "127.0.0.1:0";
    IROH(method_endpointbuilder_bind_addr)
    (IROH(clone_endpointbuilder)(builder, &status), plain(any_port, sizeof any_port - 1), &status);
    check(&status, "bind address");
    IROH(method_endpointbuilder_alpns)
    (IROH(clone_endpointbuilder)(builder, &status), list_of_one(protocol_name, sizeof protocol_name - 1), &status);
    check(&status, "protocol");
    Handle endpoint = await_handle(IROH(method_endpointbuilder_bind)(builder));
    if (!endpoint) fail("bind failed");
    return endpoint;
}

typedef struct {
    Handle send, receive;
} Stream;

static int open_stream(Handle future, Stream *stream) {
    Status status = {0};
    Handle both = await_handle(future);
    if (!both) return 0;
    stream->send = IROH(method_bistream_send)(IROH(clone_bistream)(both, &status), &status);
    stream->receive = IROH(method_bistream_recv)(both, &status);
    return 1;
}

static void free_stream(Stream stream) {
    Status status = {0};
    IROH(free_sendstream)(stream.send, &status);
    IROH(free_recvstream)(stream.receive, &status);
}

static int write_all(Stream stream, const void *bytes, uint32_t count) {
    Status status = {0};
    Handle send = IROH(clone_sendstream)(stream.send, &status);
    return await_success(IROH(method_sendstream_write_all)(send, counted(bytes, count)));
}

static int finish(Stream stream) {
    Status status = {0};
    return await_success(IROH(method_sendstream_finish)(IROH(clone_sendstream)(stream.send, &status)));
}

static int64_t read_some(Stream stream, uint32_t limit) {
    Status status = {0};
    return await_bytes(IROH(method_recvstream_read)(IROH(clone_recvstream)(stream.receive, &status), limit), NULL);
}

static int read_exactly(Stream stream, void *to, uint32_t count) {
    Status status = {0};
    Handle receive = IROH(clone_recvstream)(stream.receive, &status);
    return await_bytes(IROH(method_recvstream_read_exact)(receive, count), to) == count;
}

/* The server. */

static void serve_stream(Stream stream) {
    uint8_t block[block_bytes];
    if (!read_exactly(stream, block, block_bytes)) return;
    if (block[0] == 'B') {
        uint64_t total = 0;
        int64_t count;
        while ((count = read_some(stream, read_bytes)) > 0) total += count;
        write_all(stream, &total, sizeof total);
    } else {
        write_all(stream, block, block_bytes);
    }
    finish(stream);
}

static void *serve_connection(void *argument) {
    Status status = {0};
    Handle accepting = await_handle(IROH(method_incoming_accept)((Handle)(uintptr_t)argument));
    Handle connection = accepting ? await_handle(IROH(method_accepting_connect)(accepting)) : 0;
    Stream stream;
    while (connection &&
           open_stream(IROH(method_connection_accept_bi)(IROH(clone_connection)(connection, &status)), &stream)) {
        serve_stream(stream);
        free_stream(stream);
    }
    if (connection) IROH(free_connection)(connection, &status);
    if (own_waiter) free(own_waiter);
    return NULL;
}

static void *end_with_input(void *unused) {
    char bytes[64];
    while (read(0, bytes, sizeof bytes) > 0) {}
    _exit(0);
    return unused;
}

static void serve(void) {
    Status status = {0};
    Handle endpoint = bind_endpoint();
    Buffer id = IROH(method_endpointid_to_bytes)(
        IROH(method_endpoint_id)(IROH(clone_endpoint)(endpoint, &status), &status), &status);
    check(&status, "id");
    Buffer sockets = IROH(method_endpoint_bound_sockets)(IROH(clone_endpoint)(endpoint, &status), &status);
    check(&status, "sockets");
    printf("{\"id\":\"");
    for (uint32_t i = 0; i < get32(id.data); i++) printf("%02x", id.data[4 + i]);
    printf("\",\"address\":\"%.*s\"}\n", (int)get32(sockets.data + 4), (const char *)sockets.data + 8);
    fflush(stdout);
    pthread_t thread;
    pthread_create(&thread, NULL, end_with_input, NULL);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    for (;;) {
        Handle next = IROH(method_endpoint_accept_next)(IROH(clone_endpoint)(endpoint, &status));
        Handle incoming = await_optional_handle(next);
        if (!incoming) fail("accept failed");
        if (pthread_create(&thread, &small, serve_connection, (void *)(uintptr_t)incoming)) fail("no thread");
        pthread_detach(thread);
    }
}

/* The client. */

static Handle server_address;
static Handle shared_connection;
static int operations_per_task;
static double *latencies;
static Handle *fresh_endpoints;

static Handle dial(Handle endpoint) {
    Status status = {0};
    Handle address = IROH(clone_endpointaddr)(server_address, &status);
    Buffer name = counted(protocol_name, sizeof protocol_name - 1);
    return await_handle(IROH(method_endpoint_connect)(IROH(clone_endpoint)(endpoint, &status), address, name));
}

static void round_trip(void) {
    Status status = {0};
    uint8_t block[block_bytes] = {'E'};
    Stream stream;
    if (!open_stream(IROH(method_connection_open_bi)(IROH(clone_connection)(shared_connection, &status)), &stream) ||
        !write_all(stream, block, block_bytes) || !finish(stream) || !read_exactly(stream, block, block_bytes))
        fail("round trip failed");
    free_stream(stream);
}

static void *round_trips(void *unused) {
    for (int i = 0; i < operations_per_task; i++) round_trip();
    return unused;
}

static void *handshakes(void *argument) {
    Status status = {0};
    int first = (int)(intptr_t)argument * operations_per_task;
    for (int i = first; i < first + operations_per_task; i++) {
        double started = seconds();
        Handle connection = dial(fresh_endpoints[i]);
        if (!connection) fail("handshake failed");
        latencies[i] = seconds() - started;
        IROH(method_connection_close)(IROH(clone_connection)(connection, &status), 0, counted("", 0), &status);
        IROH(free_connection)(connection, &status);
    }
    return NULL;
}

/* Runs `count` tasks at once and returns the seconds that all of them took. */
static double run_tasks(void *(*task)(void *), int count) {
    pthread_t threads[maximum_tasks];
    double started = seconds();
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, task, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return seconds() - started;
}

static void measure_bulk(int mebibytes, int chunk) {
    Status status = {0};
    Stream stream;
    uint8_t block[block_bytes] = {'B'};
    uint8_t *bytes = malloc(chunk);
    memset(bytes, 0x5a, chunk);
    uint64_t total = (uint64_t)mebibytes << 20, counted_bytes = 0;
    if (!open_stream(IROH(method_connection_open_bi)(IROH(clone_connection)(shared_connection, &status)), &stream) ||
        !write_all(stream, block, block_bytes))
        fail("open failed");
    double started = seconds();
    for (uint64_t left = total; left > 0;) {
        uint32_t count = left < (uint64_t)chunk ? left : (uint64_t)chunk;
        if (!write_all(stream, bytes, count)) fail("write failed");
        left -= count;
    }
    if (!finish(stream) || !read_exactly(stream, &counted_bytes, sizeof counted_bytes) || counted_bytes != total)
        fail("the server counted something else");
    printf("{\"megabytesPerSecond\":%.2f}\n", total / (seconds() - started) / 1e6);
}

static void measure_round_trips(int count) {
    int warm_up = 300;
    for (int i = 0; i < warm_up; i++) round_trip();
    for (int i = 0; i < count; i++) {
        double started = seconds();
        round_trip();
        latencies[i] = seconds() - started;
    }
    double median = percentile(latencies, count, 0.5), tail = percentile(latencies, count, 0.99);
    printf("{\"p50Microseconds\":%.2f,\"p99Microseconds\":%.2f}\n", median * 1e6, tail * 1e6);
}

static void measure_handshakes(int count, int tasks) {
    operations_per_task = count / tasks;
    count = operations_per_task * tasks;
    fresh_endpoints = calloc(count, sizeof *fresh_endpoints);
    for (int i = 0; i < count; i++) fresh_endpoints[i] = bind_endpoint();
    usleep(300000); /* the endpoints' own start-up work is not the handshake's */
    double elapsed = run_tasks(handshakes, tasks);
    printf("{\"perSecond\":%.1f,\"p50Microseconds\":%.1f}\n", count / elapsed, percentile(latencies, count, 0.5) * 1e6);
}

static long resident_kibibytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) fail("no statm");
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void measure_idle(Handle endpoint, int count) {
    long before = resident_kibibytes();
    for (int i = 0; i < count; i++)
        if (!dial(endpoint)) fail("dial failed");
    printf("{\"connections\":%d,\"clientKibibytes\":%ld}\n", count, resident_kibibytes() - before);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
}

static Handle parse_address(const char *id, const char *address) {
    Status status = {0};
    uint8_t key[32];
    for (int i = 0; i < 32; i++) {
        unsigned value;
        if (sscanf(id + 2 * i, "%2x", &value) != 1) fail("bad id");
        key[i] = value;
    }
    Handle peer = IROH(constructor_endpointid_from_bytes)(counted(key, sizeof key), &status);
    check(&status, "id");
    uint8_t no_relay = 0;
    Handle parsed = IROH(constructor_endpointaddr_new)(
        peer, plain(&no_relay, 1), list_of_one(address, strlen(address)), &status);
    check(&status, "address");
    return parsed;
}

int main(int count, char **words) {
    if (ffi_iroh_ffi_uniffi_contract_version() != 30) fail("the wheel speaks another contract than 30");
    if (count == 2 && !strcmp(words[1], "server")) serve();
    if (count != 7) fail("usage: iroh_driver server | client ID ADDRESS OPERATION N A");
    server_address = parse_address(words[2], words[3]);
    const char *operation = words[4];
    int n = atoi(words[5]), a = atoi(words[6]);
    latencies = calloc(n + 1, sizeof *latencies);
    if (!strcmp(operation, "handshake")) {
        measure_handshakes(n, a);
    } else {
        Handle endpoint = bind_endpoint();
        shared_connection = dial(endpoint);
        if (!shared_connection) fail("dial failed");
        if (!strcmp(operation, "bulk")) measure_bulk(n, a);
        if (!strcmp(operation, "roundtrip")) measure_round_trips(n);
        if (!strcmp(operation, "idle")) measure_idle(endpoint, n);
        if (!strcmp(operation, "parallel")) {
            operations_per_task = n / a;
            printf("{\"perSecond\":%.1f}\n", operations_per_task * a / run_tasks(round_trips, a));
        }
    }
    fflush(stdout);
    _exit(0);
}

/* Much of the same, after which no more memory is in use than before. */
#include "probe.h"

#include <unistd.h>

#if defined(__linux__)
#include <malloc.h>
#endif

/* There under the address sanitizer. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* The bytes that are allocated at this moment; 0 where nobody knows. */
static size_t allocated(void) {
    if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
#if defined(__linux__)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* The bytes once they are no more than `bound`, or after half a minute: the last of a freed node goes by itself. */
static size_t settled(size_t bound) {
    for (int round = 0; round < 300 && allocated() > bound; round++) usleep(100000);
    return allocated();
}

/* Says what is in use after each part, and fails if the second half took more than `slack` bytes. */
static int compare(const char *what, long count, size_t warm, size_t half, size_t end, size_t slack) {
    printf("%ld %s: %zu bytes after the first, %zu after half, %zu at the end\n", count, what, warm, half, end);
    return end > half + slack ? 1 : 0;
}

typedef struct window {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long open;
    long done;
    long failed;
} window;

static void close_one(void *context, runar_data_result *result) {
    window *window = context;
    pthread_mutex_lock(&window->mutex);
    window->open -= 1;
    window->done += 1;
    if (result->error || result->length != 64) window->failed += 1;
    pthread_cond_signal(&window->changed);
    pthread_mutex_unlock(&window->mutex);
    runar_data_result_free(result);
}

/* So many requests, up to 64 at a time, and waits for the last one. */
static void ask(runar_node *node, window *window, long count) {
    uint8_t payload[64];
    memset(payload, 'x', sizeof payload);
    runar_request_options options = RUNAR_REQUEST_OPTIONS_INIT;
    options.encoding = RUNAR_ENCODING_BYTES;
    for (long number = 0; number < count; number++) {
        pthread_mutex_lock(&window->mutex);
        while (window->open >= 64) pthread_cond_wait(&window->changed, &window->mutex);
        window->open += 1;
        pthread_mutex_unlock(&window->mutex);
        runar_node_request_raw(node, "echo/back", payload, sizeof payload, &options, close_one, window);
    }
    pthread_mutex_lock(&window->mutex);
    while (window->open > 0) pthread_cond_wait(&window->changed, &window->mutex);
    pthread_mutex_unlock(&window->mutex);
}

int many_requests(long count) {
    runar_node *node = running_node();
    runar_service *service = echo_service();
    waiter end = WAITER_INIT;
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0);
    window window = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
    ask(node, &window, count / 10);
    size_t warm = allocated();
    ask(node, &window, count / 2 - count / 10);
    size_t half = allocated();
    ask(node, &window, count - count / 2);
    size_t done = allocated();
    REQUIRE(window.done == count && window.failed == 0);
    runar_node_free(node);
    runar_service_free(service);
    return compare("requests", count, warm, half, done, 256 * 1024);
}

static void make_and_free(long count) {
    for (long number = 0; number < count; number++) {
        runar_node *node = running_node();
        runar_service *service = echo_service();
        waiter end = WAITER_INIT;
        waiter data = WAITER_INIT;
        runar_node_add_service(node, service, take_end, &end);
        REQUIRE(wait_for(&end, 1) == 0);
        runar_service_free(service);
        char *id = runar_node_subscribe(node, "echo/>", false, take_event, &data, NULL);
        runar_string_free(id);
        runar_node_request_raw(node, "echo/back", (const uint8_t *)"1", 1, NULL, take_data, &data);
        REQUIRE(wait_for(&data, 1) == 0);
        if (number % 2 == 0) {
            runar_node_stop(node, take_end, &end);
            REQUIRE(wait_for(&end, 2) == 0);
        }
        runar_node_free(node);
    }
}

int many_nodes(long count) {
    const size_t slack = 256 * 1024;
    make_and_free(count / 10);
    size_t warm = allocated();
    make_and_free(count / 2 - count / 10);
    size_t half = settled(warm + slack);
    make_and_free(count - count / 2);
    return compare("nodes", count, warm, half, settled(half + slack), slack);
}

/* Never answers. */
static void ignore(void *context, runar_request *request, const runar_request_info *info) {
    (void)request;
    (void)info;
    waiter *asked = context;
    pthread_mutex_lock(&asked->mutex);
    asked->calls += 1;
    pthread_cond_broadcast(&asked->changed);
    pthread_mutex_unlock(&asked->mutex);
}

/* Frees the node in a callback of its own. */
static void free_inside(void *context, runar_data_result *result) {
    runar_node_free(*(runar_node **)context);
    runar_data_result_free(result);
}

static void free_with_calls_under_way(bool stops_first) {
    runar_node *node = running_node();
    runar_service *service = echo_service();
    waiter asked = WAITER_INIT;
    waiter end = WAITER_INIT;
    waiter data = WAITER_INIT;
    REQUIRE(runar_service_register_action(service, "silence", ignore, &asked, NULL));
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0);
    for (int number = 0; number < 20; number++) {
        runar_node_request_raw(node, "echo/silence", NULL, 0, NULL, take_data, &data);
    }
    wait_for(&asked, 20);
    if (stops_first) runar_node_stop(node, take_end, &end);
    runar_node_free(node);
    /* No callback comes after this, so all must have been there. */
    REQUIRE(calls_of(&data) == 20 && data.code != 0);
    REQUIRE(!stops_first || calls_of(&end) == 2);
    runar_service_free(service);
}

int late_callbacks(void) {
    for (int number = 0; number < 20; number++) {
        free_with_calls_under_way(false);
        free_with_calls_under_way(true);
    }
    for (int number = 0; number < 20; number++) {
        runar_node *node = running_node();
        runar_node *same = node;
        waiter data = WAITER_INIT;
        runar_node_request_raw(node, "nobody/here", NULL, 0, NULL, free_inside, &same);
        /* Whether this comes before or after the end of the node, it is answered. */
        runar_node_request_raw(node, "nobody/here", NULL, 0, NULL, take_data, &data);
        REQUIRE(wait_for(&data, 1) != 0);
        while (runar_node_listening_port(node) != 0) {}
    }
    /* What is wrong with a call is told before the node is gone, too. */
    for (int number = 0; number < 200; number++) {
        runar_node *node = running_node();
        waiter end = WAITER_INIT;
        waiter data = WAITER_INIT;
        runar_node_publish(node, "a/b", NULL, 7, take_end, &end);
        runar_node_request_raw(node, NULL, NULL, 0, NULL, take_data, &data);
        runar_node_free(node);
        REQUIRE(calls_of(&end) == 1 && calls_of(&data) == 1);
    }
    puts("late callbacks: as it should be");
    return 0;
}

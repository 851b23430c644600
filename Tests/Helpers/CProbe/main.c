/* A program in C over librunar, run by the tests, with and without sanitizers:
 *
 *   calls          every function, with what it expects and with what it does not
 *   late           callbacks while the node stops and is freed
 *   requests N     N requests; memory must not grow
 *   nodes N        N nodes that are made, started and freed; memory must not grow
 *   peer           a node that serves and asks over the network, told what to do by lines of its input
 */
#include "probe.h"

#include <signal.h>
#include <unistd.h>

/* The place that was noted last; the program ends there if it takes longer than it may. */
static bool is_watched;
static const char *volatile place_file = "";
static volatile int place_line;

void note_place(const char *file, int line) {
    place_file = file;
    place_line = line;
    if (is_watched) alarm(240);
}

static void end_late(int signal) {
    char text[512];
    int length = snprintf(text, sizeof text, "%s:%d: no end after this in four minutes\n", place_file, place_line);
    if (write(STDERR_FILENO, text, (size_t)length) < 0) _exit(signal);
    _exit(1);
}

static void note(waiter *waiter, const char *value, size_t length, const runar_error *error) {
    pthread_mutex_lock(&waiter->mutex);
    waiter->calls += 1;
    waiter->code = error ? error->code : 0;
    if (length >= sizeof waiter->value) length = sizeof waiter->value - 1;
    if (value) memcpy(waiter->value, value, length);
    waiter->length = value ? length : 0;
    waiter->value[waiter->length] = 0;
    pthread_cond_broadcast(&waiter->changed);
    pthread_mutex_unlock(&waiter->mutex);
}

void take_end(void *context, const char *value, const runar_error *error) {
    note(context, value, value ? strlen(value) : 0, error);
}

void take_data(void *context, runar_data_result *result) {
    note(context, (const char *)result->data, result->length, result->error);
    runar_data_result_free(result);
}

void take_event(void *context, const runar_event *event) {
    note(context, (const char *)event->data, event->length, NULL);
}

int32_t wait_for(waiter *waiter, int calls) {
    pthread_mutex_lock(&waiter->mutex);
    while (waiter->calls < calls) pthread_cond_wait(&waiter->changed, &waiter->mutex);
    int32_t code = waiter->code;
    pthread_mutex_unlock(&waiter->mutex);
    return code;
}

int calls_of(waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    int calls = waiter->calls;
    pthread_mutex_unlock(&waiter->mutex);
    return calls;
}

runar_node *running_node(void) {
    runar_node_config config = RUNAR_NODE_CONFIG_INIT;
    runar_error *error = NULL;
    config.in_memory = true;
    config.listen_addresses = "127.0.0.1:0";
    config.disable_discovery = true;
    config.log_level = RUNAR_LOG_ERROR;
    runar_node *node = runar_node_create(&config, &error);
    REQUIRE(node != NULL && error == NULL);
    waiter started = WAITER_INIT;
    runar_node_start(node, take_end, &started);
    REQUIRE(wait_for(&started, 1) == 0);
    return node;
}

int32_t code_of(runar_error *error) {
    REQUIRE(error != NULL && error->message[0] != 0 && error->context != NULL);
    int32_t code = error->code;
    runar_error_free(error);
    return code;
}

void echo(void *context, runar_request *request, const runar_request_info *info) {
    (void)context;
    (void)runar_request_respond(request, info->payload, info->payload_length, NULL);
}

runar_service *echo_service(void) {
    runar_error *error = NULL;
    runar_service *service = runar_service_create("Echo", "echo", "1.0.0", "Says it again", &error);
    REQUIRE(service != NULL && error == NULL);
    REQUIRE(runar_service_register_action(service, "back", echo, NULL, &error));
    return service;
}

/* The leak check of the address sanitizer, where the program has one. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* Waits until tasks that have just reported their results have released their arguments; what is still held after five
 * seconds is a leak, which the check at the end of the process reports. */
static void await_releases(void) {
    if (__lsan_do_recoverable_leak_check == NULL) return;
    for (int tries = 0; tries < 50 && __lsan_do_recoverable_leak_check() != 0; tries++) {
        usleep(100 * 1000);
    }
}

static int run(const char *mode, long number) {
    if (strcmp(mode, "calls") == 0) return every_call();
    if (strcmp(mode, "late") == 0) return late_callbacks();
    if (strcmp(mode, "requests") == 0) return many_requests(number);
    if (strcmp(mode, "nodes") == 0) return many_nodes(number);
    if (strcmp(mode, "peer") == 0) return answer_and_ask();
    fprintf(stderr, "no such mode: %s\n", mode);
    return 64;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "calls";
    /* The others have to do with as much as they are asked for. */
    is_watched = strcmp(mode, "calls") == 0 || strcmp(mode, "late") == 0;
    signal(SIGALRM, end_late);
    int status = run(mode, count > 2 ? strtol(arguments[2], NULL, 10) : 1000);
    await_releases();
    return status;
}

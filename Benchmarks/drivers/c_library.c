/* Requests by the C library to an action in C of the same node: what the way through runar.h costs.
 *
 * Prints {"p50Microseconds": ...}. Each request is made in the callback of the one before, as a program in Swift goes on
 * after its `await`, so that no thread is woken for it.
 */
#include <runar.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { count = 20000, warm_ups = 500 };

static const char question[] = "{\"a\":5.25,\"b\":3.5,\"note\":\"sixty-four bytes, as the others\"}";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int steps;

static runar_node *node;
static double latencies[warm_ups + count];
static double began;
static int measured;

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(const char *what, const runar_error *error) {
    fprintf(stderr, "c_library: %s: %s\n", what, error ? error->message : "no reason was given");
    exit(1);
}

static void step(void) {
    pthread_mutex_lock(&mutex);
    steps += 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_for(int count_of_steps) {
    pthread_mutex_lock(&mutex);
    while (steps < count_of_steps) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void done(void *what, const char *value, const runar_error *error) {
    (void)value;
    if (error) fail(what, error);
    step();
}

static void echo(void *context, runar_request *request, const runar_request_info *info) {
    (void)context;
    runar_request_respond(request, info->payload, info->payload_length, NULL);
}

static void ask(void);

static void answered(void *context, runar_data_result *result) {
    (void)context;
    latencies[measured++] = microseconds() - began;
    if (result->error || result->length != sizeof question - 1) fail("request", result->error);
    runar_data_result_free(result);
    if (measured < warm_ups + count) ask();
    else step();
}

static void ask(void) {
    began = microseconds();
    runar_node_request_raw(
        node, "math/echo", (const uint8_t *)question, sizeof question - 1, NULL, answered, NULL);
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

int main(void) {
    runar_error *error = NULL;
    runar_node_config config = RUNAR_NODE_CONFIG_INIT;
    config.node_id = "c-library";
    config.in_memory = true;
    config.listen_addresses = "127.0.0.1:0";
    config.disable_discovery = true;
    config.log_level = RUNAR_LOG_WARN;
    node = runar_node_create(&config, &error);
    if (!node) fail("create", error);
    runar_service *service = runar_service_create("Math", "math", "1.0.0", "echoes", NULL);
    if (!runar_service_register_action(service, "echo", echo, NULL, &error)) fail("register", error);
    runar_node_add_service(node, service, done, "add");
    wait_for(1);
    runar_node_start(node, done, "start");
    wait_for(2);
    ask();
    wait_for(3);
    qsort(latencies + warm_ups, count, sizeof *latencies, ascending);
    printf("{\"p50Microseconds\": %.3f}\n", latencies[warm_ups + count / 2]);
    runar_service_free(service);
    runar_node_free(node);
    return 0;
}

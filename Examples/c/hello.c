/* A service in C, asked by the same program: the smallest use of runar.h.
 *
 *   cc hello.c $(pkg-config --cflags --libs runar) -lpthread
 */
#include <runar.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Callbacks come on other threads, so the main one waits for them here. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ended;

static void finish(void) {
    pthread_mutex_lock(&mutex);
    ended += 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_for(int count) {
    pthread_mutex_lock(&mutex);
    while (ended < count) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void done(void *what, const char *value, const runar_error *error) {
    if (error) printf("%s failed: %s (%d)\n", (const char *)what, error->message, error->code);
    else printf("%s: %s\n", (const char *)what, value ? value : "done");
    finish();
}

static void answered(void *what, runar_data_result *result) {
    if (result->error) printf("%s failed: %s (%d)\n", (const char *)what, result->error->message, result->error->code);
    else printf("%s: %.*s\n", (const char *)what, (int)result->length, (const char *)result->data);
    runar_data_result_free(result);
    finish();
}

/* An action: it may answer here, or later from any thread. */
static void greet(void *context, runar_request *request, const runar_request_info *info) {
    char text[256];
    (void)context;
    int length = snprintf(text, sizeof text, "\"hello, %.*s\"", (int)info->payload_length, (const char *)info->payload);
    runar_request_respond(request, (const uint8_t *)text, (size_t)length, NULL);
}

int main(void) {
    runar_error *error = NULL;
    runar_node_config config = RUNAR_NODE_CONFIG_INIT;
    config.node_id = "hello";
    config.in_memory = true; /* a real device has a home */
    config.listen_addresses = "127.0.0.1:0";
    config.disable_discovery = true;
    config.log_level = RUNAR_LOG_WARN;
    runar_node *node = runar_node_create(&config, &error);
    if (!node) {
        fprintf(stderr, "%s [%s] (%d)\n", error->message, error->context, error->code);
        runar_error_free(error);
        return 1;
    }
    runar_service *service = runar_service_create("Greeter", "greeter", "1.0.0", "Greets", NULL);
    runar_service_register_action(service, "greet", greet, NULL, NULL);
    runar_node_add_service(node, service, done, "added");
    wait_for(1);
    runar_node_start(node, done, "started");
    wait_for(2);
    runar_node_request_raw(node, "greeter/greet", (const uint8_t *)"world", 5, NULL, answered, "asked");
    wait_for(3);
    runar_node_request_raw(node, "greeter/curse", NULL, 0, NULL, answered, "asked");
    wait_for(4);
    runar_service_free(service);
    runar_node_free(node);
    return 0;
}

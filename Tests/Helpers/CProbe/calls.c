/* Every function of runar.h, with what it expects and with what it does not. */
#include "probe.h"

static const char not_utf8[] = {'a', (char)0xC3, (char)0x28, 0};

/* NULL, stale and invented handles are refused by every function that takes one. */
static void refuse_handles(runar_node *node, runar_service *service) {
    waiter end = WAITER_INIT;
    waiter data = WAITER_INIT;
    runar_error *error = NULL;
    REQUIRE(runar_node_peer_id(node, &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_create_network(node, "Home", &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_issue_token(node, "a", "b", 0, &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_subscribe(node, "a/b", false, take_event, &end, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_listening_port(node) == 0);
    REQUIRE(!runar_node_unsubscribe(node, "a"));
    REQUIRE(!runar_node_cancel_request(node, 1));

    int calls = 0;
    runar_node_start(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_stop(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_info(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_known_peers(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_join_network(node, "token", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_connect(node, "a", "b", "127.0.0.1:1", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_publish(node, "a/b", NULL, 0, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_remove_service(node, "echo", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_request_raw(node, "echo/back", NULL, 0, NULL, take_data, &data) == 0);
    REQUIRE(wait_for(&data, 1) == RUNAR_ERROR_NULL_ARGUMENT);

    REQUIRE(!runar_service_set_network(service, "Home", &error) && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(!runar_service_register_action(service, "a", echo, NULL, &error));
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(!runar_service_register_event(service, "a", take_event, &end, &error));
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(!runar_request_respond((runar_request *)node, NULL, 0, &error));
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(!runar_request_fail((runar_request *)service, 10000, "no", NULL, NULL));
    REQUIRE(runar_request_is_cancelled((runar_request *)node));
    runar_node_handle_memory_warning(node);
    runar_node_optimize_memory_usage(node);
    runar_node_reduce_operations(node);
    runar_node_resume_operations(node);
    runar_node_network_available(node);
    runar_node_network_unavailable(node);
    runar_node_free(node);
    runar_service_free(service);
}

static void refuse_configurations(void) {
    runar_error *error = NULL;
    REQUIRE(runar_node_create(NULL, &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_create(NULL, NULL) == NULL);
    runar_node_config config = RUNAR_NODE_CONFIG_INIT;
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);
    config.in_memory = true;
    config.node_id = not_utf8;
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_TEXT);
    config.node_id = NULL;
    config.listen_addresses = "nowhere";
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);
    config.listen_addresses = NULL;
    config.log_level = 9;
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);
    config.log_level = 0;
    config.size = 0;
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);
    config.in_memory = false;
    config.size = sizeof config;
    config.home = "/proc/none/of/this";
    REQUIRE(runar_node_create(&config, &error) == NULL && code_of(error) == RUNAR_ERROR_IO);

    /* A program of a later version with a field that is not set, and with one that is. */
    struct {
        runar_node_config config;
        uint64_t later;
    } future = {RUNAR_NODE_CONFIG_INIT, 0};
    future.config.size = sizeof future;
    future.config.in_memory = true;
    future.config.disable_discovery = true;
    runar_node *node = runar_node_create(&future.config, &error);
    REQUIRE(node != NULL && error == NULL);
    runar_node_free(node);
    runar_node_free(node);
    future.later = 1;
    REQUIRE(runar_node_create(&future.config, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);

    /* A program of an earlier version, which has fewer fields. */
    runar_node_config early = RUNAR_NODE_CONFIG_INIT;
    early.in_memory = true;
    early.size = offsetof(runar_node_config, listen_addresses);
    early.listen_addresses = not_utf8;
    node = runar_node_create(&early, &error);
    REQUIRE(node != NULL && error == NULL);
    runar_node_free(node);
}

/* A passphrase, and how often it was asked for. */
typedef struct words {
    const char *text;
    int asked;
} words;

static size_t give(void *context, uint8_t *buffer, size_t capacity) {
    words *words = context;
    size_t length = strlen(words->text);
    words->asked += 1;
    REQUIRE(length <= capacity);
    memcpy(buffer, words->text, length);
    return length;
}

/* The peer id of a device in a home, which a node that was freed a moment ago may still hold; NULL and a code. */
static char *id_in(const runar_node_config *config, int32_t *code) {
    runar_error *error = NULL;
    runar_node *node;
    do {
        node = runar_node_create(config, &error);
        *code = node ? 0 : code_of(error);
    } while (*code == RUNAR_ERROR_IN_USE);
    char *id = node ? runar_node_peer_id(node, NULL) : NULL;
    runar_node_free(node);
    return id;
}

/* What opens the vault in a home: a passphrase, a key file elsewhere, one beside it. */
static void keep_keys(void) {
    char folder[] = "/tmp/runar-c-XXXXXX", homes[3][64], key_file[64], command[128];
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(key_file, sizeof key_file, "%s/key", folder);
    words right = {"seven paper boats", 0}, wrong = {"seven paper planes", 0}, none = {"", 0};
    int32_t code;
    for (int way = 0; way < 3; way++) {
        snprintf(homes[way], sizeof homes[way], "%s/home%d", folder, way);
        runar_node_config config = RUNAR_NODE_CONFIG_INIT;
        config.home = homes[way];
        config.disable_discovery = true;
        if (way == 0) config.passphrase = give;
        config.passphrase_context = &right;
        if (way == 1) config.key_file = key_file;
        char *first = id_in(&config, &code), *again = id_in(&config, &code);
        REQUIRE(first != NULL && again != NULL && strcmp(first, again) == 0);
        runar_string_free(first);
        runar_string_free(again);
        if (way == 2) continue;
        if (way == 0) {
            REQUIRE(right.asked >= 2);
            config.passphrase_context = &wrong;
            REQUIRE(id_in(&config, &code) == NULL && code == RUNAR_ERROR_WRONG_SECRET && wrong.asked > 0);
            config.passphrase_context = &none;
            REQUIRE(id_in(&config, &code) == NULL && code == RUNAR_ERROR_KEY_DENIED);
            config.key_file = key_file;
            REQUIRE(id_in(&config, &code) == NULL && code == RUNAR_ERROR_INVALID_PARAMETERS);
            config.home = NULL;
            config.in_memory = true;
            config.key_file = NULL;
            REQUIRE(id_in(&config, &code) == NULL && code == RUNAR_ERROR_INVALID_PARAMETERS);
            config.home = homes[way];
            config.in_memory = false;
            config.passphrase = NULL;
        }
        config.key_file = NULL;
        REQUIRE(id_in(&config, &code) == NULL && code != 0);
    }
    /* The last node may still be closing its database, whose files disappear then: -f does not mind. */
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    REQUIRE(system(command) == 0);
}

static void refuse_arguments(runar_node *node) {
    waiter end = WAITER_INIT;
    waiter data = WAITER_INIT;
    runar_error *error = NULL;
    REQUIRE(runar_node_create_network(node, NULL, &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_create_network(node, not_utf8, &error) == NULL && code_of(error) == RUNAR_ERROR_INVALID_TEXT);
    REQUIRE(runar_node_issue_token(node, "x", "y", 0, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_INVALID_PARAMETERS);
    REQUIRE(runar_service_create(NULL, "p", "1", "d", &error) == NULL && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_service_create("n", not_utf8, "1", "d", &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_INVALID_TEXT);
    REQUIRE(runar_node_subscribe(node, "a/>/b", false, take_event, &end, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_INVALID_PATH);
    REQUIRE(runar_node_subscribe(node, "a/b", false, NULL, &end, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_publish(node, "a/*", NULL, 0, take_end, &end);
    REQUIRE(wait_for(&end, 1) == RUNAR_ERROR_INVALID_PATH);
    runar_node_publish(node, "a/b", NULL, 7, take_end, &end);
    REQUIRE(wait_for(&end, 2) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_join_network(node, "{}", take_end, &end);
    REQUIRE(wait_for(&end, 3) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_publish(node, "a/b", NULL, 0, NULL, NULL);

    runar_request_options options = RUNAR_REQUEST_OPTIONS_INIT;
    options.peer_id = "nobody";
    REQUIRE(runar_node_request_raw(node, "echo/back", NULL, 0, &options, take_data, &data) == 0);
    REQUIRE(wait_for(&data, 1) == RUNAR_ERROR_INVALID_PARAMETERS);
    options.peer_id = NULL;
    options.encoding = 77;
    REQUIRE(runar_node_request_raw(node, "echo/back", NULL, 0, &options, take_data, &data) == 0);
    REQUIRE(wait_for(&data, 2) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_request_raw(node, not_utf8, NULL, 0, NULL, take_data, &data);
    REQUIRE(wait_for(&data, 3) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_request_raw(node, "nobody/here", NULL, 0, NULL, take_data, &data);
    REQUIRE(wait_for(&data, 4) == RUNAR_ERROR_NO_SERVICE);
    runar_node_request_raw(node, "nobody/here", NULL, 0, NULL, NULL, NULL);
}

/* Keeps the request for later. */
static void keep(void *context, runar_request *request, const runar_request_info *info) {
    REQUIRE(info->size == sizeof *info && info->peer_id == NULL);
    REQUIRE(strcmp(info->path, "echo/later/7") == 0 && strcmp(info->parameters, "{\"id\":\"7\"}") == 0);
    __atomic_store_n((runar_request **)context, request, __ATOMIC_SEQ_CST);
}

static void fail(void *context, runar_request *request, const runar_request_info *info) {
    (void)context;
    REQUIRE(info->time_left_ms > 0 && !runar_request_is_cancelled(request));
    REQUIRE(runar_request_fail(request, 10007, "out of cake", "kitchen", NULL));
    runar_error *error = NULL;
    REQUIRE(!runar_request_respond(request, NULL, 0, &error) && code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
}

static void serve(runar_node *node) {
    waiter end = WAITER_INIT;
    waiter data = WAITER_INIT;
    waiter events = WAITER_INIT;
    runar_request *kept = NULL;
    runar_service *service = echo_service();
    REQUIRE(runar_service_register_action(service, "later/{id}", keep, &kept, NULL));
    REQUIRE(runar_service_register_action(service, "never", fail, NULL, NULL));
    REQUIRE(runar_service_register_event(service, "told", take_event, &events, NULL));
    REQUIRE(runar_service_set_network(service, NULL, NULL));
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0 && strcmp(end.value, "echo") == 0);
    runar_service_free(service);
    runar_service_free(service);

    /* What no node can have is on none. */
    runar_service *wrong = runar_service_create("Wrong", "wrong", "1.0.0", "", NULL);
    waiter refused = WAITER_INIT;
    REQUIRE(runar_service_register_event(wrong, "a/>/b", take_event, &events, NULL));
    for (int round = 1; round <= 2; round++) {
        runar_node_add_service(node, wrong, take_end, &refused);
        REQUIRE(wait_for(&refused, round) == RUNAR_ERROR_INVALID_PATH);
    }
    runar_service_free(wrong);

    uint8_t payload[] = "\"hello\"";
    REQUIRE(runar_node_request_raw(node, "echo/back", payload, 7, NULL, take_data, &data) != 0);
    REQUIRE(wait_for(&data, 1) == 0 && strcmp(data.value, "\"hello\"") == 0);
    runar_node_request_raw(node, "echo/never", NULL, 0, NULL, take_data, &data);
    REQUIRE(wait_for(&data, 2) == 10007);
    runar_node_request_raw(node, "echo/nothing", NULL, 0, NULL, take_data, &data);
    REQUIRE(wait_for(&data, 3) == RUNAR_ERROR_NO_ACTION);

    /* Cancelled, and out of time: the handle is gone. */
    uint64_t number = runar_node_request_raw(node, "echo/later/7", NULL, 0, NULL, take_data, &data);
    while (!runar_node_cancel_request(node, number)) {}
    REQUIRE(wait_for(&data, 4) == RUNAR_ERROR_CANCELLED);
    REQUIRE(runar_request_is_cancelled(__atomic_load_n(&kept, __ATOMIC_SEQ_CST)));
    REQUIRE(!runar_node_cancel_request(node, number));
    runar_request_options options = RUNAR_REQUEST_OPTIONS_INIT;
    options.timeout_ms = 500;
    runar_node_request_raw(node, "echo/later/7", NULL, 0, &options, take_data, &data);
    REQUIRE(wait_for(&data, 5) == RUNAR_ERROR_DEADLINE);
    while (!runar_request_is_cancelled(__atomic_load_n(&kept, __ATOMIC_SEQ_CST))) {}
    REQUIRE(!runar_request_respond(kept, NULL, 0, NULL));

    /* Events, to the service and to a subscription, and none after its end. */
    waiter heard = WAITER_INIT;
    char *id = runar_node_subscribe(node, "echo/*", false, take_event, &heard, NULL);
    REQUIRE(id != NULL);
    runar_node_publish(node, "echo/told", (const uint8_t *)"1", 1, take_end, &end);
    REQUIRE(wait_for(&end, 2) == 0 && wait_for(&heard, 1) == 0 && wait_for(&events, 1) == 0);
    REQUIRE(runar_node_unsubscribe(node, id) && !runar_node_unsubscribe(node, id));
    runar_node_publish(node, "echo/told", (const uint8_t *)"2", 1, take_end, &end);
    REQUIRE(wait_for(&end, 3) == 0 && wait_for(&events, 2) == 0 && calls_of(&heard) == 1);
    runar_string_free(id);
    runar_string_free(id);

    runar_node_get_info(node, take_end, &end);
    REQUIRE(wait_for(&end, 4) == 0 && strstr(end.value, "\"servicePath\":\"echo\"") != NULL);
    runar_node_get_known_peers(node, take_end, &end);
    REQUIRE(wait_for(&end, 5) == 0 && strcmp(end.value, "[]") == 0);
    runar_node_remove_service(node, "echo", take_end, &end);
    REQUIRE(wait_for(&end, 6) == 0);
}

/* Requires the answer to a request; round is the number of the request. */
static void expect_answer(runar_node *node, int round) {
    static waiter data = WAITER_INIT;
    uint8_t payload[] = "\"hello\"";
    runar_node_request_raw(node, "echo/back", payload, 7, NULL, take_data, &data);
    REQUIRE(wait_for(&data, round) == 0 && strcmp(data.value, "\"hello\"") == 0);
}

/* A node that runs answers after each message about memory, background and network. */
static void follow_system(runar_node *node) {
    static void (*const messages[])(runar_node *) = {
        runar_node_handle_memory_warning, runar_node_optimize_memory_usage, runar_node_reduce_operations,
        runar_node_resume_operations, runar_node_network_unavailable, runar_node_network_available,
    };
    waiter end = WAITER_INIT;
    runar_service *service = echo_service();
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0);
    runar_service_free(service);
    for (int i = 0; i < 6; i++) {
        messages[i](node);
        expect_answer(node, i + 1);
    }
    runar_node_remove_service(node, "echo", take_end, &end);
    REQUIRE(wait_for(&end, 2) == 0);
}

int every_call(void) {
    REQUIRE(runar_abi_version() == RUNAR_ABI_VERSION);
    runar_error_free(NULL);
    runar_string_free(NULL);
    runar_data_result_free(NULL);
    refuse_configurations();
    keep_keys();
    runar_node *node = running_node();
    char *id = runar_node_peer_id(node, NULL);
    REQUIRE(id != NULL && strlen(id) == 44 && runar_node_listening_port(node) != 0);
    runar_string_free(id);
    refuse_arguments(node);
    serve(node);
    follow_system(node);
    runar_service *service = echo_service();
    runar_service_free(service);
    refuse_handles((runar_node *)service, service);
    runar_node_free(node);
    refuse_handles(node, service);
    refuse_handles(NULL, NULL);
    seal_and_open();
    use_circle();
    refuse_handles((runar_node *)(uintptr_t)0xDEADBEEF, (runar_service *)node);
    puts("every call: as it should be");
    return 0;
}

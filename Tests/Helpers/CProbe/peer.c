/* A node that other programs tell what to do, by lines of words:
 *
 *   join TOKEN             says "joined NETWORK" or "failed CODE"
 *   connect PEER NETWORK ADDRESS
 *   ask PATH PAYLOAD       says "answer BYTES" or "failed CODE"
 *   publish TOPIC DATA
 *   hear TOPIC             subscribes to it, with what was published before
 *   profile NAME           opens the circle, says "profile PERSON", and from then on "trust PERSON CHANGE" and
 *                          "thought PERSON THOUGHT" for its events
 *   invite PEER, accept PERSON, revoke PERSON
 *   tell PERSON TEXT       says "told THOUGHT"
 *   read THOUGHT           says "read CONTENT"
 *   opened THOUGHT         says "noted"
 *   quit
 *
 * It says "ready PEER PORT" first, serves "echo/back" and "echo/fail", and says "event TOPIC DATA" for what is
 * published below "news" and what it is to hear.
 */
#include "probe.h"

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *word, const char *first, const char *second) {
    pthread_mutex_lock(&output);
    printf("%s %s %s\n", word, first, second);
    fflush(stdout);
    pthread_mutex_unlock(&output);
}

static void hear(void *context, const runar_event *event) {
    (void)context;
    char data[1024];
    size_t length = event->length < sizeof data ? event->length : sizeof data - 1;
    memcpy(data, event->data, length);
    data[length] = 0;
    say("event", event->topic, data);
}

static void follow(void *context, const runar_circle_event *event) {
    (void)context;
    char thought[64];
    if (event->kind == RUNAR_CIRCLE_TRUST_CHANGED) say("trust", event->person_id, event->change);
    if (event->kind != RUNAR_CIRCLE_THOUGHT_RECEIVED) return;
    copy_field(event->json, "thoughtId", thought, sizeof thought);
    say("thought", event->person_id, thought);
}

static void fail(void *context, runar_request *request, const runar_request_info *info) {
    (void)context;
    runar_request_fail(request, 10042, "it cannot be", info->path, NULL);
}

static void report(const char *word, waiter *waiter, int32_t code) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)code);
    if (code) say("failed", number, "");
    else say(word, waiter->value, "");
}

/* Obeys a command for the circle; false if it is none. */
static bool obey_circle(runar_node *node, const char *command, const char *first) {
    waiter end = WAITER_INIT;
    const char *word;
    if (strcmp(command, "profile") == 0) {
        runar_node_open_circle(node, NULL, NULL);
        runar_string_free(runar_node_subscribe_circle(node, follow, NULL, NULL));
        runar_node_set_profile(node, first, NULL, take_end, &end);
        word = "profile";
    } else if (strcmp(command, "invite") == 0) {
        runar_node_invite_device(node, first, take_end, &end);
        word = "invited";
    } else if (strcmp(command, "accept") == 0) {
        runar_node_accept_person(node, first, take_end, &end);
        word = "accepted";
    } else if (strcmp(command, "revoke") == 0) {
        runar_node_revoke_trust(node, first, take_end, &end);
        word = "revoked";
    } else if (strcmp(command, "tell") == 0) {
        runar_node_say(node, first, strtok(NULL, "\n"), take_end, &end);
        word = "told";
    } else if (strcmp(command, "read") == 0) {
        runar_node_get_thought_content(node, first, take_data, &end);
        word = "read";
    } else if (strcmp(command, "opened") == 0) {
        runar_node_note_opened(node, first, take_end, &end);
        word = "noted";
    } else {
        return false;
    }
    report(word, &end, wait_for(&end, 1));
    return true;
}

static void obey(runar_node *node, char *line) {
    waiter end = WAITER_INIT;
    char *command = strtok(line, " \n");
    char *first = strtok(NULL, " \n");
    if (!command || !first || obey_circle(node, command, first)) return;
    if (strcmp(command, "join") == 0) {
        runar_node_join_network(node, first, take_end, &end);
        report("joined", &end, wait_for(&end, 1));
    } else if (strcmp(command, "connect") == 0) {
        char *network = strtok(NULL, " \n");
        char *address = strtok(NULL, " \n");
        runar_node_connect(node, first, network, address, take_end, &end);
        report("connected", &end, wait_for(&end, 1));
    } else if (strcmp(command, "ask") == 0) {
        char *payload = strtok(NULL, "\n");
        size_t length = payload ? strlen(payload) : 0;
        runar_node_request_raw(node, first, (const uint8_t *)payload, length, NULL, take_data, &end);
        report("answer", &end, wait_for(&end, 1));
    } else if (strcmp(command, "publish") == 0) {
        char *data = strtok(NULL, "\n");
        runar_node_publish(node, first, (const uint8_t *)data, data ? strlen(data) : 0, take_end, &end);
        report("published", &end, wait_for(&end, 1));
    } else if (strcmp(command, "hear") == 0) {
        runar_string_free(runar_node_subscribe(node, first, true, hear, NULL, NULL));
    }
}

int answer_and_ask(void) {
    static char line[8192];
    runar_node *node = running_node();
    runar_service *service = echo_service();
    waiter end = WAITER_INIT;
    REQUIRE(runar_service_register_action(service, "fail", fail, NULL, NULL));
    runar_node_add_service(node, service, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0);
    char *subscription = runar_node_subscribe(node, "news/>", false, hear, NULL, NULL);
    REQUIRE(subscription != NULL);
    char *peer = runar_node_peer_id(node, NULL);
    char port[16];
    snprintf(port, sizeof port, "%u", (unsigned)runar_node_listening_port(node));
    say("ready", peer, port);
    runar_string_free(peer);
    while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4) != 0) obey(node, line);
    runar_node_free(node);
    runar_service_free(service);
    runar_string_free(subscription);
    return 0;
}

/* The functions for people and thoughts. */
#include "probe.h"

static const char not_utf8[] = {'a', (char)0xC3, (char)0x28, 0};
/* The public id of no person and no thought: SHA-256 of nothing. */
static const char no_id[] = "GKot5hBsd81kMupNCXHaqbhv3huEbxAFMLnpcX2hniwn";

/* ------------------------------------------------------------------------------------------------ events */

/* The events of a circle, a line for each: kind, person, change, JSON. */
typedef struct watcher {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int count;
    char lines[64][2048];
} watcher;

#define WATCHER_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {{0}}}

static void take_circle_event(void *context, const runar_circle_event *event) {
    watcher *watcher = context;
    REQUIRE(event->size == sizeof *event && event->json[0] == '{');
    REQUIRE((event->change != NULL) == (event->kind == RUNAR_CIRCLE_TRUST_CHANGED));
    pthread_mutex_lock(&watcher->mutex);
    REQUIRE(watcher->count < 64);
    snprintf(
        watcher->lines[watcher->count], sizeof watcher->lines[0], "%d %s %s %s", (int)event->kind,
        event->person_id ? event->person_id : "-", event->change ? event->change : "-", event->json);
    watcher->count += 1;
    pthread_cond_broadcast(&watcher->changed);
    pthread_mutex_unlock(&watcher->mutex);
}

/* Waits for an event of a kind that contains some words, and returns its line. */
static const char *wait_for_event(watcher *watcher, int kind, const char *words) {
    const char *found = NULL;
    pthread_mutex_lock(&watcher->mutex);
    for (int next = 0; found == NULL; next++) {
        while (next >= watcher->count) pthread_cond_wait(&watcher->changed, &watcher->mutex);
        const char *line = watcher->lines[next];
        if (strtol(line, NULL, 10) == kind && strstr(line, words) != NULL) found = line;
    }
    pthread_mutex_unlock(&watcher->mutex);
    return found;
}

/* ------------------------------------------------------------------------------------------------ wrong calls */

/* NULL and other numbers that are no node are refused by each function. */
static void refuse_no_node(runar_node *node) {
    waiter end = WAITER_INIT, data = WAITER_INIT;
    watcher events = WATCHER_INIT;
    runar_error *error = NULL;
    int calls = 0;
    runar_node_open_circle(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_set_profile(node, "Ada", NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_card(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_people(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_invite_device(node, "a", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_invite_card(node, "a", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_accept_person(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_decline_person(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_verify_person(node, no_id, "1", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_revoke_trust(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_say(node, no_id, "hello", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_send_thought(node, no_id, "text", NULL, 0, NULL, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_thoughts(node, no_id, 0, 0, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_note_opened(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_thought_content(node, no_id, take_data, &data);
    REQUIRE(wait_for(&data, 1) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(runar_node_subscribe_circle(node, take_circle_event, &events, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT && events.count == 0);
}

static void refuse_profiles(runar_node *node) {
    waiter end = WAITER_INIT;
    int calls = 0;
    char *long_name = calloc(1, 130);
    REQUIRE(long_name != NULL);
    memset(long_name, 'a', 129);
    runar_node_set_profile(node, NULL, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_set_profile(node, not_utf8, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_set_profile(node, "Ada", not_utf8, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_set_profile(node, "", NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_set_profile(node, long_name, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_TOO_LARGE);
    runar_node_get_card(node, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NO_PROFILE);
    free(long_name);
}

static void refuse_people(runar_node *node, const char *own_card) {
    waiter end = WAITER_INIT;
    int calls = 0;
    runar_node_invite_device(node, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_invite_device(node, "nobody", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_invite_card(node, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_invite_card(node, "runar://person/", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_invite_card(node, own_card, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_OWN_CARD);
    runar_node_accept_person(node, "nobody", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_accept_person(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_UNKNOWN_PERSON);
    runar_node_decline_person(node, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_decline_person(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_UNKNOWN_PERSON);
    runar_node_verify_person(node, no_id, "12345", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_verify_person(node, no_id, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_revoke_trust(node, not_utf8, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_revoke_trust(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_UNKNOWN_PERSON);
}

static void refuse_thoughts(runar_node *node) {
    static const uint8_t bytes[] = {0xC3, 0x28};
    waiter end = WAITER_INIT, data = WAITER_INIT;
    int calls = 0, answers = 0;
    runar_node_say(node, no_id, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_say(node, no_id, not_utf8, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_say(node, no_id, "hello", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_UNKNOWN_PERSON);
    runar_node_send_thought(node, no_id, NULL, bytes, 2, NULL, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_send_thought(node, no_id, "smell", bytes, 2, NULL, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_send_thought(node, no_id, "image", NULL, 2, NULL, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_send_thought(node, no_id, "image", bytes, 2, not_utf8, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_TEXT);
    runar_node_get_thoughts(node, NULL, 0, 0, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_thoughts(node, no_id, 0, 257, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_get_thoughts(node, no_id, UINT64_MAX, 256, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0 && strcmp(end.value, "[]") == 0);
    runar_node_note_opened(node, NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_note_opened(node, no_id, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_get_thought_content(node, NULL, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_thought_content(node, "a", take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_get_thought_content(node, no_id, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_INVALID_PARAMETERS);
}

/* ------------------------------------------------------------------------------------------------ two people */

/* A node with its person. */
typedef struct member {
    runar_node *node;
    watcher *events;
    char *subscription;
    char person[64];
    char card[4096];
    waiter end;
    int calls;
} member;

/* Opens the circle of a new node, and sets its profile. */
static void make_member(member *member, const char *name) {
    memset(member, 0, sizeof *member);
    member->end = (waiter)WAITER_INIT;
    member->node = running_node();
    member->events = malloc(sizeof *member->events);
    REQUIRE(member->events != NULL);
    *member->events = (watcher)WATCHER_INIT;
    runar_node_open_circle(member->node, take_end, &member->end);
    REQUIRE(wait_for(&member->end, ++member->calls) == 0);
    refuse_profiles(member->node);
    runar_node_set_profile(member->node, name, "likes\nboats", take_end, &member->end);
    REQUIRE(wait_for(&member->end, ++member->calls) == 0 && member->end.length < sizeof member->person);
    strcpy(member->person, member->end.value);
    runar_node_get_card(member->node, take_end, &member->end);
    REQUIRE(wait_for(&member->end, ++member->calls) == 0);
    strcpy(member->card, member->end.value);
    REQUIRE(strncmp(member->card, "runar://person/", 15) == 0);
    runar_error *error = NULL;
    REQUIRE(runar_node_subscribe_circle(member->node, NULL, NULL, &error) == NULL);
    REQUIRE(code_of(error) == RUNAR_ERROR_NULL_ARGUMENT);
    member->subscription = runar_node_subscribe_circle(member->node, take_circle_event, member->events, &error);
    REQUIRE(member->subscription != NULL && error == NULL);
}

static void free_member(member *member) {
    runar_node_free(member->node);
    runar_string_free(member->subscription);
    free(member->events);
}

/* Each invites the other one, one by card and one by consent, and compares the safety number. */
static void make_trust(member *ada, member *ben) {
    char words[128], number[72];
    runar_node_invite_card(ada->node, ben->card, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0 && strcmp(ada->end.value, ben->person) == 0);
    runar_node_say(ada->node, ben->person, "too early", take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == RUNAR_ERROR_NOT_TRUSTED);
    connect_nodes(ada->node, ben->node);
    runar_node_invite_device(ada->node, id_of(ben->node), take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0);
    snprintf(words, sizeof words, "%s requested", ada->person);
    wait_for_event(ben->events, RUNAR_CIRCLE_TRUST_CHANGED, words);
    runar_node_accept_person(ben->node, ada->person, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
    snprintf(words, sizeof words, "%s trusted", ada->person);
    wait_for_event(ben->events, RUNAR_CIRCLE_TRUST_CHANGED, words);
    snprintf(words, sizeof words, "%s trusted", ben->person);
    wait_for_event(ada->events, RUNAR_CIRCLE_TRUST_CHANGED, words);

    runar_node_get_people(ada->node, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0 && strstr(ada->end.value, "\"name\":\"Ben\"") != NULL);
    REQUIRE(strstr(ada->end.value, "\"blurb\":\"likes\\nboats\"") != NULL);
    REQUIRE(strstr(ada->end.value, "\"verified\":false") != NULL && strstr(ada->end.value, id_of(ben->node)) != NULL);
    copy_field(ada->end.value, "safetyNumber", number, sizeof number);
    runar_node_get_people(ben->node, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0 && strstr(ben->end.value, number) != NULL);
    runar_node_verify_person(ada->node, ben->person, number, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0);
    runar_node_get_people(ada->node, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0 && strstr(ada->end.value, "\"verified\":true") != NULL);
    number[0] = number[0] == '0' ? '1' : '0';
    runar_node_verify_person(ada->node, ben->person, number, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == RUNAR_ERROR_WRONG_SAFETY_NUMBER);
}

/* A text and an image go from one to the other, whose person sees the image. */
static void talk(member *ada, member *ben) {
    static const uint8_t picture[] = {0x89, 'P', 'N', 'G', 0, 1};
    waiter data = WAITER_INIT;
    char said[64], sent[64], words[128], older[32];
    runar_node_say(ada->node, ben->person, "meet me", take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0 && ada->end.length < sizeof said);
    strcpy(said, ada->end.value);
    const char *line = wait_for_event(ben->events, RUNAR_CIRCLE_THOUGHT_RECEIVED, said);
    REQUIRE(strstr(line, ada->person) != NULL && strstr(line, "\"text\":\"meet me\"") != NULL);

    runar_node_send_thought(
        ada->node, ben->person, "image", picture, sizeof picture, "image/png", "boat.png", take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0 && ada->end.length < sizeof sent);
    strcpy(sent, ada->end.value);
    line = wait_for_event(ben->events, RUNAR_CIRCLE_THOUGHT_RECEIVED, sent);
    REQUIRE(strstr(line, "\"contentType\":\"image/png\"") != NULL && strstr(line, "\"fileName\":\"boat.png\"") != NULL);
    REQUIRE(strstr(line, "\"text\"") == NULL && strstr(line, "\"byteCount\":6") != NULL);
    runar_node_get_thought_content(ben->node, sent, take_data, &data);
    REQUIRE(wait_for(&data, 1) == 0 && data.length == sizeof picture);
    REQUIRE(memcmp(data.value, picture, sizeof picture) == 0);

    runar_node_get_thoughts(ben->node, ada->person, 0, 1, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
    REQUIRE(strstr(ben->end.value, sent) != NULL && strstr(ben->end.value, said) == NULL);
    const char *number = strstr(ben->end.value, "\"number\":");
    REQUIRE(number != NULL);
    snprintf(older, sizeof older, "%lld", strtoll(number + 9, NULL, 10));
    runar_node_get_thoughts(ben->node, ada->person, strtoull(older, NULL, 10), 0, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
    REQUIRE(strstr(ben->end.value, said) != NULL && strstr(ben->end.value, sent) == NULL);

    snprintf(words, sizeof words, "%s,%s", said, sent);
    /* The keys that Ben seals with may still be on their way: the receipt waits for them. */
    runar_node_note_opened(ben->node, words, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
    line = wait_for_event(ada->events, RUNAR_CIRCLE_DELIVERY_CHANGED, "\"state\":\"opened\"");
    REQUIRE(strstr(line, ben->person) != NULL);
}

static void end_trust(member *ada, member *ben) {
    char words[128];
    REQUIRE(runar_node_unsubscribe(ben->node, ben->subscription));
    REQUIRE(!runar_node_unsubscribe(ben->node, ben->subscription));
    int count = ben->events->count;
    runar_node_set_profile(ada->node, "Ada L.", NULL, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0);
    runar_node_revoke_trust(ada->node, ben->person, take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == 0);
    snprintf(words, sizeof words, "%s revoked", ben->person);
    wait_for_event(ada->events, RUNAR_CIRCLE_TRUST_CHANGED, words);
    runar_node_say(ada->node, ben->person, "hello", take_end, &ada->end);
    REQUIRE(wait_for(&ada->end, ++ada->calls) == RUNAR_ERROR_NOT_TRUSTED);
    REQUIRE(ben->events->count == count);
}

/* A person who asked is declined. */
static void decline(member *ben, member *eve) {
    char words[128];
    connect_nodes(ben->node, eve->node);
    runar_node_invite_device(eve->node, id_of(ben->node), take_end, &eve->end);
    REQUIRE(wait_for(&eve->end, ++eve->calls) == 0);
    for (bool is_there = false; !is_there;) {
        runar_node_get_people(ben->node, take_end, &ben->end);
        REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
        is_there = strstr(ben->end.value, eve->person) != NULL;
    }
    runar_node_decline_person(ben->node, eve->person, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0);
    snprintf(words, sizeof words, "\"personId\":\"%s\"", eve->person);
    runar_node_get_people(ben->node, take_end, &ben->end);
    REQUIRE(wait_for(&ben->end, ++ben->calls) == 0 && strstr(ben->end.value, words) != NULL);
    REQUIRE(strstr(ben->end.value, "\"trust\":\"requested\"") == NULL);
}

void use_circle(void) {
    static member ada, ben, eve;
    refuse_no_node(NULL);
    make_member(&ada, "Ada");
    make_member(&ben, "Ben");
    make_member(&eve, "Eve");
    refuse_no_node((runar_node *)(uintptr_t)0xDEADBEEF);
    refuse_people(ada.node, ada.card);
    refuse_thoughts(ada.node);
    make_trust(&ada, &ben);
    talk(&ada, &ben);
    end_trust(&ada, &ben);
    decline(&ben, &eve);
    runar_node *freed = ada.node;
    free_member(&ada);
    free_member(&ben);
    free_member(&eve);
    refuse_no_node(freed);
}

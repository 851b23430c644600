/* A program in C over librunar: what its parts share. */
#ifndef PROBE_H
#define PROBE_H

#include <runar_circle.h>
#include <runar_sealed.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Notes where the program is, and lets it go on for four minutes from now, if it is watched. */
void note_place(const char *file, int line);

/* Ends the program with a message unless something holds, or if that is not known in time. */
#define REQUIRE(condition)                                                              \
    do {                                                                                \
        note_place(__FILE__, __LINE__);                                                 \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* What callbacks tell the thread that waits for them. */
typedef struct waiter {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int calls;
    int32_t code;
    size_t length;
    char value[4096];
} waiter;

#define WAITER_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, {0}}

/* Callbacks whose context is a waiter. */
void take_end(void *context, const char *value, const runar_error *error);
void take_data(void *context, runar_data_result *result);
void take_event(void *context, const runar_event *event);

/* Waits for that many calls in all, and returns the code of the last one's error or 0. */
int32_t wait_for(waiter *waiter, int calls);
/* How many calls there were so far. */
int calls_of(waiter *waiter);

/* A node in memory that only this machine reaches, started. */
runar_node *running_node(void);
/* Ends a function that must fail: returns the code and frees the error. */
int32_t code_of(runar_error *error);

/* Answers with what it was asked. */
void echo(void *context, runar_request *request, const runar_request_info *info);
/* A service "echo" with the action "back". */
runar_service *echo_service(void);

/* Returns the peer id of a node, in a place that lasts until the call after the next one. */
const char *id_of(runar_node *node);
/* Makes second a member of a network of first, and connects it. */
void connect_nodes(runar_node *first, runar_node *second);
/* Copies a text field of a JSON object, which must have it. */
void copy_field(const char *json, const char *name, char *value, size_t capacity);

/* Sealed files and one-time keys, a part of every_call(). */
void seal_and_open(void);
/* People and thoughts, a part of every_call(). */
void use_circle(void);
int every_call(void);
int late_callbacks(void);
int many_requests(long count);
int many_nodes(long count);
int answer_and_ask(void);

#endif

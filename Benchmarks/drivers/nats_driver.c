/* Requests over NATS with TLS, by Debian's libnats: what a program gets from a broker and no interpreter.
 *
 *   nats_driver responder URL AUTHORITY                       answers until its input ends
 *   nats_driver client AUTHORITY URL roundtrip|parallel N A   says {"p50Microseconds": ...} or {"perSecond": ...}
 *
 * Requests go out at once (libnats would otherwise wait up to a millisecond for more). The answer is a constant, so
 * nothing is parsed. */
#include <nats/nats.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SUBJECT "bench.math.add"
#define QUESTION "{\"a\":5.25,\"b\":3.5,\"note\":\"sixty-four bytes, as the others\"}"
#define ANSWER "8.75"
#define WARM_UPS 200
#define MOST_THREADS 256

static natsConnection *connection;

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    fprintf(stderr, "nats_driver: %s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static void dial(const char *url, const char *authority) {
    natsOptions *options;
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetURL(options, url), "address");
    check(natsOptions_SetSecure(options, true), "TLS");
    check(natsOptions_LoadCATrustedCertificates(options, authority), "authority");
    check(natsOptions_SkipServerVerification(options, true), "names");
    check(natsOptions_SetSendAsap(options, true), "sending at once");
    check(natsConnection_Connect(&connection, options), "connection");
    natsOptions_Destroy(options);
}

static void answer(natsConnection *own, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)subscription, (void)context;
    natsConnection_PublishString(own, natsMsg_GetReply(message), ANSWER);
    natsMsg_Destroy(message);
}

static void ask(void) {
    natsMsg *reply;
    check(natsConnection_Request(&reply, connection, SUBJECT, QUESTION, sizeof QUESTION - 1, 5000), "request");
    natsMsg_Destroy(reply);
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void round_trips(long count) {
    double *latencies = calloc((size_t)count, sizeof *latencies);
    if (latencies == NULL) exit(1);
    for (long i = -WARM_UPS; i < count; i++) {
        double started = microseconds();
        ask();
        if (i >= 0) latencies[i] = microseconds() - started;
    }
    qsort(latencies, (size_t)count, sizeof *latencies, ascending);
    printf("{\"p50Microseconds\": %.2f, \"p99Microseconds\": %.2f}\n", latencies[count / 2], latencies[count * 99 / 100]);
}

static void *ask_many(void *count) {
    for (intptr_t i = 0; i < (intptr_t)count; i++) ask();
    return NULL;
}

static void in_flight(long count, long threads) {
    pthread_t workers[MOST_THREADS];
    if (threads < 1 || threads > MOST_THREADS) exit(64);
    double started = microseconds();
    for (long i = 0; i < threads; i++) pthread_create(&workers[i], NULL, ask_many, (void *)(intptr_t)(count / threads));
    for (long i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    printf("{\"perSecond\": %.1f}\n", count / threads * threads / (microseconds() - started) * 1e6);
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "responder") == 0) {
        natsSubscription *subscription;
        char ignored[64];
        dial(words[2], words[3]);
        check(natsConnection_Subscribe(&subscription, connection, SUBJECT, answer, NULL), "subscription");
        natsSubscription_NoDeliveryDelay(subscription);
        check(natsConnection_Flush(connection), "flush");
        puts("ready");
        fflush(stdout);
        while (read(0, ignored, sizeof ignored) > 0) {}
        _exit(0);
    }
    if (count == 7 && strcmp(words[1], "client") == 0) {
        dial(words[3], words[2]);
        if (strcmp(words[4], "roundtrip") == 0) round_trips(atol(words[5]));
        else in_flight(atol(words[5]), atol(words[6]));
        fflush(stdout);
        _exit(0);
    }
    fprintf(stderr, "usage: nats_driver responder URL AUTHORITY | client AUTHORITY URL roundtrip|parallel N A\n");
    return 64;
}

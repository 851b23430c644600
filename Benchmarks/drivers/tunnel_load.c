/* Traffic through a tunnel, and the measure of what arrives. Each command runs in the network namespace of its host.
 *
 *   tunnel_load sink ADDRESS PORT                    takes TCP streams, counts and echoes datagrams, until its input ends
 *   tunnel_load tcp ADDRESS PORT SECONDS             one TCP stream; the sink confirms its bytes before the clock stops
 *   tunnel_load udp ADDRESS PORT MBITS SECONDS       datagrams of 1,360 bytes at a rate, and the share that is lost
 *   tunnel_load probe ADDRESS PORT SECONDS           an echo each millisecond; prints when each one was sent and returned
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { payload = 1360, batch = 64, buffer = 8 << 20, piece = 128 << 10, most_echoes = 60000 };
enum { data = 1, query = 2, echo = 3 };

/* The beginning of each datagram. */
struct head {
    uint32_t kind, number;
    uint64_t run;
    double time;
};

static void fail(const char *call) {
    perror(call);
    exit(1);
}

/* The clock that Python's time.monotonic() reads too. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void pause_for(double time) {
    struct timespec length = {(time_t)time, (long)((time - (time_t)time) * 1e9)};
    nanosleep(&length, NULL);
}

static struct sockaddr_in place(const char *address, const char *port) {
    struct sockaddr_in found = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    if (inet_pton(AF_INET, address, &found.sin_addr) != 1) fail("inet_pton");
    return found;
}

static int open_socket(int type) {
    int handle = socket(AF_INET, type, 0), on = 1, bytes = buffer;
    if (handle < 0) fail("socket");
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (type == SOCK_STREAM) return handle; /* TCP adapts its buffers itself */
    setsockopt(handle, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    setsockopt(handle, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    return handle;
}

static void *take_streams(void *listener) {
    static char bytes[piece];
    for (;;) {
        int peer = accept((int)(intptr_t)listener, NULL, NULL);
        if (peer < 0) continue;
        uint64_t all = 0;
        ssize_t count;
        while ((count = recv(peer, bytes, sizeof bytes, 0)) > 0) all += count;
        if (count == 0 && send(peer, &all, sizeof all, MSG_NOSIGNAL) < 0) perror("send");
        close(peer);
    }
    return NULL;
}

/* Counts the datagrams of the latest run, answers queries with that number, and returns echoes. */
static void *take_datagrams(void *socket) {
    static char space[batch][2048];
    static struct sockaddr_in sources[batch];
    static struct mmsghdr messages[batch];
    static struct iovec pieces[batch];
    int handle = (int)(intptr_t)socket;
    uint64_t run = 0;
    uint32_t number = 0;
    for (;;) {
        for (int i = 0; i < batch; i++) {
            pieces[i] = (struct iovec){space[i], sizeof space[i]};
            messages[i].msg_hdr = (struct msghdr){
                .msg_iov = &pieces[i], .msg_iovlen = 1, .msg_name = &sources[i], .msg_namelen = sizeof sources[i]};
        }
        int count = recvmmsg(handle, messages, batch, MSG_WAITFORONE, NULL);
        for (int i = 0; i < count; i++) {
            struct head head;
            if (messages[i].msg_len < sizeof head) continue;
            memcpy(&head, space[i], sizeof head);
            if (head.kind != echo && head.run != run) run = head.run, number = 0;
            if (head.kind == data) number++;
            if (head.kind == data) continue;
            if (head.kind == query) head.number = number;
            sendto(handle, &head, sizeof head, 0, (struct sockaddr *)&sources[i], sizeof sources[i]);
        }
    }
    return NULL;
}

static void run_sink(const char *address, const char *port) {
    struct sockaddr_in here = place(address, port);
    int stream = open_socket(SOCK_STREAM), datagrams = open_socket(SOCK_DGRAM);
    if (bind(stream, (struct sockaddr *)&here, sizeof here) || listen(stream, 8)) fail("bind");
    if (bind(datagrams, (struct sockaddr *)&here, sizeof here)) fail("bind");
    pthread_t thread;
    pthread_create(&thread, NULL, take_streams, (void *)(intptr_t)stream);
    pthread_create(&thread, NULL, take_datagrams, (void *)(intptr_t)datagrams);
    printf("{\"id\":\"\",\"address\":\"%s:%s\"}\n", address, port);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) continue;
}

static void send_stream(struct sockaddr_in there, double limit) {
    static char bytes[piece];
    int handle = open_socket(SOCK_STREAM);
    if (connect(handle, (struct sockaddr *)&there, sizeof there)) fail("connect");
    double started = seconds();
    while (seconds() - started < limit)
        if (send(handle, bytes, sizeof bytes, MSG_NOSIGNAL) < 0) fail("send");
    shutdown(handle, SHUT_WR);
    uint64_t all = 0;
    if (recv(handle, &all, sizeof all, MSG_WAITALL) != sizeof all) fail("recv");
    printf("{\"megabitsPerSecond\":%.1f}\n", all * 8 / (seconds() - started) / 1e6);
}

/* Returns the number of datagrams of a run that the sink counted. */
static uint32_t counted(int handle, uint64_t run) {
    struct head question = {.kind = query, .run = run}, answer;
    for (int i = 0; i < 100; i++) {
        struct pollfd entry = {handle, POLLIN, 0};
        send(handle, &question, sizeof question, 0);
        if (poll(&entry, 1, 100) > 0 && recv(handle, &answer, sizeof answer, 0) == sizeof answer && answer.run == run)
            return answer.number;
    }
    fprintf(stderr, "tunnel_load: the sink does not answer\n");
    exit(1);
}

/* Sends what is due every quarter of a millisecond, or later if the machine is too slow for the rate. */
static void send_datagrams(struct sockaddr_in there, double megabits, double limit) {
    static char space[batch][payload];
    struct mmsghdr messages[batch] = {0};
    struct iovec pieces[batch];
    int handle = open_socket(SOCK_DGRAM);
    if (connect(handle, (struct sockaddr *)&there, sizeof there)) fail("connect");
    double started = seconds(), elapsed, rate = megabits * 1e6 / 8 / payload;
    struct head head = {.kind = data, .run = (uint64_t)(started * 1e9)};
    for (int i = 0; i < batch; i++) {
        memcpy(space[i], &head, sizeof head);
        pieces[i] = (struct iovec){space[i], payload};
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    uint64_t sent = 0;
    while ((elapsed = seconds() - started) < limit) {
        /* At most two milliseconds of the rate at once: a sender that was late does not send it all in one burst. */
        double due = elapsed * rate - sent, most = rate * 0.002 + 1;
        if (due > most) due = most;
        if (due < 1) {
            pause_for(0.00025);
            continue;
        }
        int count = sendmmsg(handle, messages, due < batch ? (unsigned)due : batch, 0);
        if (count > 0) sent += count;
    }
    pause_for(0.2);
    uint32_t arrived = counted(handle, head.run);
    printf("{\"megabitsPerSecond\":%.1f,\"sentMegabitsPerSecond\":%.1f,\"lost\":%.5f}\n",
           arrived * 8.0 * payload / elapsed / 1e6, sent * 8.0 * payload / elapsed / 1e6,
           sent ? 1 - arrived / (double)sent : 1);
}

static void probe(struct sockaddr_in there, double limit) {
    static struct { double sent, arrived; } echoes[most_echoes];
    int handle = open_socket(SOCK_DGRAM), count = 0;
    uint32_t number = 0;
    fcntl(handle, F_SETFL, O_NONBLOCK);
    double started = seconds(), now;
    printf("{\"id\":\"\",\"address\":\"\"}\n");
    fflush(stdout);
    for (double next = started; (now = seconds()) < started + limit;) {
        if (now >= next) {
            struct head head = {.kind = echo, .number = number++, .time = now};
            /* Without a route there is an error, which is a loss like another. */
            sendto(handle, &head, sizeof head, 0, (struct sockaddr *)&there, sizeof there);
            next = now + 0.001;
        }
        struct head head;
        while (recv(handle, &head, sizeof head, 0) == sizeof head && count < most_echoes) {
            echoes[count].sent = head.time;
            echoes[count++].arrived = seconds();
        }
        struct pollfd entry = {handle, POLLIN, 0};
        struct timespec rest = {0, (long)((next - now) * 1e9)};
        if (next > now) ppoll(&entry, 1, &rest, NULL);
    }
    printf("{\"sent\":%u,\"echoes\":[", number);
    for (int i = 0; i < count; i++) printf("%s[%.6f,%.6f]", i ? "," : "", echoes[i].sent, echoes[i].arrived);
    printf("]}\n");
}

int main(int count, char **words) {
    if (count == 4 && !strcmp(words[1], "sink")) return run_sink(words[2], words[3]), 0;
    if (count < 5) return fprintf(stderr, "usage: tunnel_load sink|tcp|udp|probe ADDRESS PORT ...\n"), 2;
    struct sockaddr_in there = place(words[2], words[3]);
    if (!strcmp(words[1], "tcp")) return send_stream(there, atof(words[4])), 0;
    if (!strcmp(words[1], "udp") && count == 6) return send_datagrams(there, atof(words[4]), atof(words[5])), 0;
    if (!strcmp(words[1], "probe")) return probe(there, atof(words[4])), 0;
    return fprintf(stderr, "tunnel_load: unknown command\n"), 2;
}

/* What loopback gives without any protocol: the ceilings that a transport on this machine lives under. Two processes,
 * the receiver tells how far it is through shared memory.
 *
 *   ceilings udp-mmsg SECONDS        sendmmsg and recvmmsg, 1200-byte datagrams
 *   ceilings udp-gso SECONDS         UDP_SEGMENT and UDP_GRO (loopback never cuts the big segment: optimistic)
 *   ceilings tcp SECONDS             one TCP stream, 64 KiB writes
 *   ceilings udp-pingpong N          64 bytes there and back, N times
 *   ceilings tcp-pingpong N
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { datagram = 1200, segments = 52, batch = 64, big = 65536, message = 64, buffer = 8 << 20 };

static volatile uint64_t *received; /* bytes, written by the receiver alone */

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int bound(int type, struct sockaddr_in *address) {
    int handle = socket(AF_INET, type, 0);
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (handle < 0 || bind(handle, (struct sockaddr *)address, length)) fail("bind");
    getsockname(handle, (struct sockaddr *)address, &length);
    int bytes = buffer;
    /* Only root may pass the system's limit; everybody else gets that limit. */
    if (setsockopt(handle, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(handle, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
        setsockopt(handle, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return handle;
}

/* Two UDP sockets connected with each other, or the two ends of a TCP connection. */
static void make_pair(int type, int *sender, int *receiver) {
    struct sockaddr_in here, there;
    int on = 1;
    *receiver = bound(type, &there);
    if (type == SOCK_DGRAM) {
        *sender = bound(type, &here);
        if (connect(*receiver, (struct sockaddr *)&here, sizeof here)) fail("connect");
        if (connect(*sender, (struct sockaddr *)&there, sizeof there)) fail("connect");
        return;
    }
    int listener = *receiver;
    listen(listener, 1);
    *sender = socket(AF_INET, type, 0);
    if (connect(*sender, (struct sockaddr *)&there, sizeof there)) fail("connect");
    *receiver = accept(listener, NULL, NULL);
    setsockopt(*sender, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(*receiver, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static pid_t child(void) {
    pid_t process = fork();
    if (process < 0) fail("fork");
    if (process == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return process;
}

static void end(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

static void receive_all(int handle, int is_datagram, int coalesced) {
    static char space[batch][big];
    struct mmsghdr messages[batch] = {0};
    struct iovec pieces[batch];
    int on = 1;
    if (coalesced) setsockopt(handle, SOL_UDP, UDP_GRO, &on, sizeof on);
    for (int i = 0; i < batch; i++) {
        pieces[i] = (struct iovec){space[i], big};
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (;;) {
        uint64_t bytes = 0;
        if (is_datagram) {
            int count = recvmmsg(handle, messages, coalesced ? 8 : batch, MSG_WAITFORONE, NULL);
            if (count <= 0) _exit(1);
            for (int i = 0; i < count; i++) bytes += messages[i].msg_len;
        } else {
            ssize_t count = recv(handle, space[0], big, 0);
            if (count <= 0) _exit(0);
            bytes = count;
        }
        *received += bytes;
    }
}

static void measure_bulk(const char *kind, double limit) {
    int is_datagram = strcmp(kind, "tcp") != 0, coalesced = !strcmp(kind, "udp-gso");
    int sender, receiver, segment = datagram;
    static char bytes[big];
    make_pair(is_datagram ? SOCK_DGRAM : SOCK_STREAM, &sender, &receiver);
    pid_t process = child();
    if (process == 0) receive_all(receiver, is_datagram, coalesced);
    if (coalesced && setsockopt(sender, SOL_UDP, UDP_SEGMENT, &segment, sizeof segment)) fail("UDP_SEGMENT");
    struct iovec piece = {bytes, datagram};
    struct mmsghdr messages[batch] = {0};
    for (int i = 0; i < batch; i++) {
        messages[i].msg_hdr.msg_iov = &piece;
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    /* A window, as a transport has one, so that loss does not flatter the sender. The kernel counts about twice the
     * payload against the buffer; lost datagrams are written off when nothing arrives for 5 ms. */
    int window = buffer;
    socklen_t length = sizeof window;
    getsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &window, &length);
    uint64_t sent = 0, seen = 0;
    double started = seconds(), elapsed, progressed = started;
    while ((elapsed = seconds() - started) < limit) {
        if (*received != seen) seen = *received, progressed = started + elapsed;
        if (is_datagram && sent > seen + window / 3) {
            if (started + elapsed > progressed + 0.005) sent = seen;
            continue;
        }
        ssize_t count;
        if (!is_datagram)
            count = send(sender, bytes, big, 0);
        else if (coalesced)
            count = send(sender, bytes, datagram * segments, 0);
        else
            count = (ssize_t)sendmmsg(sender, messages, batch, 0) * datagram;
        if (count > 0) sent += count;
    }
    end(process);
    printf("{\"megabytesPerSecond\":%.1f}\n", *received / elapsed / 1e6);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_pingpong(int type, int count) {
    int here, there, warm_up = 500;
    char bytes[message] = {0};
    double *latencies = calloc(count, sizeof *latencies);
    make_pair(type, &here, &there);
    pid_t process = child();
    while (process == 0)
        if (recv(there, bytes, message, MSG_WAITALL) != message || send(there, bytes, message, 0) != message) _exit(0);
    for (int i = -warm_up; i < count; i++) {
        double started = seconds();
        send(here, bytes, message, 0);
        if (recv(here, bytes, message, MSG_WAITALL) != message) fail("recv");
        if (i >= 0) latencies[i] = seconds() - started;
    }
    end(process);
    qsort(latencies, count, sizeof *latencies, by_value);
    printf("{\"p50Microseconds\":%.2f,\"p99Microseconds\":%.2f}\n", latencies[count / 2] * 1e6,
           latencies[(int)(count * 0.99)] * 1e6);
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "usage: ceilings KIND SECONDS|N\n"), 2;
    received = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (received == MAP_FAILED) fail("mmap");
    if (strstr(words[1], "pingpong"))
        measure_pingpong(words[1][0] == 't' ? SOCK_STREAM : SOCK_DGRAM, atoi(words[2]));
    else
        measure_bulk(words[1], atof(words[2]));
    return 0;
}

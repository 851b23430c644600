"""datagrams.py ADDRESS PORT: a UDP socket that does what lines on standard input say, until they end.

send ADDRESS PORT TEXT            sends one datagram
later SECONDS ADDRESS PORT TEXT   the same after that time of silence
measure ADDRESS PORT COUNT SIZE MILLISECONDS
                                  sends numbered datagrams, one every so many milliseconds, to one that echoes, and says
                                  `measured {"sent":, "received":, "median":, "runs":}` (median round trip in seconds,
                                  runs: how many gaps the lost ones make) when all came, or nothing for four
                                  seconds
echo                              from now on sends back "SOURCE-ADDRESS SOURCE-PORT TEXT", or the same if it was numbered

Says `ready`, `echoing`, `sent`, and `heard ADDRESS PORT TEXT` for each datagram while it does not echo.
"""
import json
import select
import socket
import statistics
import sys
import time

endpoint = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
endpoint.bind((sys.argv[1], int(sys.argv[2])))
echoes = False


def say(text):
    print(text, flush=True)


def measure(address, port, count, size, milliseconds):
    count, pause = int(count), float(milliseconds) / 1000
    started = latest = time.monotonic()
    sent, trips = [], {}
    while len(sent) < count or (len(trips) < count and time.monotonic() < latest + 4):
        wait = started + len(sent) * pause - time.monotonic() if len(sent) < count else 0.1
        if wait <= 0:
            number = b"#%08d" % len(sent)
            latest = time.monotonic()
            sent.append(latest)
            endpoint.sendto(number + b"." * (int(size) - len(number)), (address, int(port)))
        elif select.select([endpoint], [], [], wait)[0]:
            number = int(endpoint.recv(65535)[1:9])
            latest = time.monotonic()
            trips[number] = latest - sent[number]
    lost = [number not in trips for number in range(count)]
    runs = sum(is_lost and not (number and lost[number - 1]) for number, is_lost in enumerate(lost))
    median = statistics.median(trips.values()) if trips else 0
    say("measured " + json.dumps({"sent": count, "received": len(trips), "median": median, "runs": runs}))


say("ready")
while True:
    for source in select.select([endpoint, sys.stdin], [], [])[0]:
        if source is endpoint:
            data, peer = endpoint.recvfrom(65535)
            if not echoes:
                say(f"heard {peer[0]} {peer[1]} {data.decode()}")
            else:
                endpoint.sendto(data if data[:1] == b"#" else f"{peer[0]} {peer[1]} ".encode() + data, peer)
            continue
        words = sys.stdin.readline().split(maxsplit=3)
        if not words:
            sys.exit()
        if words[0] == "echo":
            echoes = True
            say("echoing")
        elif words[0] == "measure":
            measure(words[1], words[2], *words[3].split())
        elif words[0] == "later":
            time.sleep(float(words[1]))
            port, text = words[3].split(maxsplit=1)
            endpoint.sendto(text.strip().encode(), (words[2], int(port)))
            say("sent")
        else:
            endpoint.sendto(words[3].strip().encode(), (words[1], int(words[2])))
            say("sent")

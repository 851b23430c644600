"""A WireGuard server of BoringTun (in mitmproxy-wireguard), which returns each datagram of the tunnel to its sender.

Arguments: the server's private key and the client's public key, both in base64. It prints its UDP port, then a line for each
datagram: source, destination and number of bytes. It ends with its standard input.
"""
import asyncio
import os
import sys


def check():
    try:
        import mitmproxy_wireguard  # noqa: F401
    except ImportError as error:
        return f"BoringTun is missing: {error}; run ./scripts/python-env.sh"
    return ""


async def serve(private_key, client):
    import mitmproxy_wireguard

    def receive(data, source, destination):
        print(f"{source[0]}:{source[1]} {destination[0]}:{destination[1]} {len(data)}", flush=True)
        server.send_datagram(data, destination, source)

    async def refuse(stream):
        stream.close()

    server = await mitmproxy_wireguard.start_server("127.0.0.1", 0, private_key, [client], refuse, receive)
    print(server.getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if sys.argv[1] == "check":
    print(check(), flush=True)
else:
    asyncio.run(serve(sys.argv[1], sys.argv[2]))
    # The extension crashes while the interpreter is torn down.
    os._exit(0)

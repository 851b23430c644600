#if os(Linux)
internal import BlindTokens
internal import Foundation
internal import TestSupport
internal import Testing

/// Redemptions that pass the client's wallet by.
extension ExitLab {
    /// The key with which the issuer signs.
    func issuerKey() throws -> TokenPrivateKey {
        let text = String(decoding: try directory.bytes("issuer/issuer-key.pem"), as: UTF8.self)
        // A time precedes the block.
        let block = text[(try #require(text.range(of: "-----BEGIN"))).lowerBound...]
        return try TokenPrivateKey(pemRepresentation: String(block))
    }

    /// The file of the gateway's leases and spent tokens.
    var gatewayFile: String { directory.file("gateway/gateway.sqlite") }

    /// Sends requests for redemption in the order of `requests` on 8 connections from the client's host.
    ///
    /// The program is written in Python, which shares no code with ours. It writes a line for each request.
    func redeeming(_ requests: [RedemptionRequest]) throws -> ChildProcess {
        let lines = try requests.map { request in
            String(decoding: try JSONEncoder().encode([request.authorization, request.form]), as: UTF8.self)
        }
        let file = try directory.write(Array(lines.joined(separator: "\n").utf8), to: "requests")
        let command = lab.wrapper(.client) + ["python3", "-c", Self.redeemer]
        return try ChildProcess(
            path: command[0],
            arguments: Array(command.dropFirst()) + [TunnelLab.Role.gateway.address, "8443", file]
        )
    }

    private static let redeemer = """
        import http.client, json, queue, ssl, sys, threading
        host, port, path = sys.argv[1:]
        requests = queue.SimpleQueue()
        for index, line in enumerate(open(path)):
            requests.put((index, *json.loads(line)))
        context = ssl._create_unverified_context()
        lock = threading.Lock()
        def redeem():
            connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=120)
            while True:
                try:
                    index, authorization, form = requests.get_nowait()
                except queue.Empty:
                    return
                answer = {"index": index}
                try:
                    fields = {"Authorization": authorization, "Content-Type": "application/json"}
                    connection.request("POST", "/redeem", form, fields)
                    received = connection.getresponse()
                    answer |= {"body": json.loads(received.read()), "status": received.status}
                except (OSError, http.client.HTTPException, ValueError):
                    connection.close()
                with lock:
                    print(json.dumps(answer), flush=True)
        for _ in range(8):
            threading.Thread(target=redeem).start()
        """
}
#endif

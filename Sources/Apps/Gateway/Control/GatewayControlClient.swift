internal import APIDescription
internal import CommandModel
internal import Platform

/// The operator's side of ``GatewayControl``: one request of HTTP/1.1 for each connection.
package struct GatewayControlClient: Sendable {
    private let client: ControlSocketClient

    /// Connects to the gateway of the data directory at `directory`.
    package init(directory: String) {
        client = ControlSocketClient(
            path: FilePath.joining(directory, GatewayControl.socketName),
            answerByteLimit: 64 << 20,
            absent: CommandFailure(
                "gateway-not-running",
                .unavailable,
                "no gateway runs on this data: check --data, or start it with `runar gateway serve`"
            ),
            silent: CommandFailure(
                "gateway-silent",
                .unavailable,
                "the running gateway does not answer: try again, or restart it"
            )
        )
    }

    /// The clients of the running gateway.
    ///
    /// - Throws: ``CommandFailure``.
    package func clients() async throws -> GatewayClientsReport { try await client.send("GET", "/clients") }

    /// Makes the running gateway drain.
    ///
    /// - Throws: ``CommandFailure``.
    package func drain(withinSeconds seconds: UInt64?) async throws -> GatewayDrainReport {
        try await client.send("POST", "/drain", JSONText.bytes(GatewayDrainForm(withinSeconds: seconds)))
    }
}

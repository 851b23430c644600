import Foundation
import RunarNode

/// A chat among the devices of one person or family: each device shows the lines typed on the others.
///
///     chat laptop               the first device; it prints an invitation for the next one
///     chat phone INVITATION     another device, the first time
///     chat phone                later
@main
struct Chat {
    /// A message on the wire.
    struct Line: Codable, Sendable {
        var from: String
        var text: String
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            return print("usage: chat NAME [INVITATION]")
        }
        let node = try await start(name, invitation: arguments.dropFirst().first)
        let subscription = try node.subscribe("chat/said", includesPast: true) { event in
            guard event.publisher != node.peerId, let line = try? event.decode(Line.self) else { return }  // not a line
            say("\(line.from): \(line.text)")
        }
        for await text in lines {
            try await node.publish("chat/said", data: Line(from: name, text: text))
        }
        subscription.cancel()
        await node.stop()
    }

    /// The typed lines, read on a thread of its own: tasks have as few threads as there are processors, and none to
    /// wait on.
    static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }.start()
        }
    }

    /// This device's node, in the network that the first device makes and the others join by invitation.
    static func start(_ name: String, invitation: String?) async throws -> RunarNode {
        let config = RunarNodeConfig(nodeId: name, defaultNetworkId: "Chat")
        config.homePath = FileManager.default.currentDirectoryPath + "/chat-\(name)"
        config.logLevel = .error
        let node = try RunarNode(config: config)
        try await node.start()
        if let invitation {
            try await node.join(by: Invitation(text: invitation))
            say("joined")
        } else if try node.networks().isEmpty {
            _ = try node.createNetwork(name: "Chat")
        }
        if let network = try node.networks().first, network.isOwner {
            say("invitation: \(try node.invite(to: network.networkId, isPreallowed: true).link)")
        }
        return node
    }

    /// Prints a line at once, even into a pipe.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

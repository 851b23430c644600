import Foundation
import RunarNode

/// One clipboard for several machines: a text copied on one can be pasted on the others.
///
///     clipboard laptop pbpaste pbcopy
///     clipboard desk "xclip -o -selection clipboard" "xclip -selection clipboard" INVITATION
///
/// The two commands read and write the clipboard of the system.
@main
struct Clipboard {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3 else {
            return print("usage: clipboard NAME READ-COMMAND WRITE-COMMAND [INVITATION]")
        }
        let node = try await start(arguments[0], invitation: arguments.dropFirst(3).first)
        let clipboard = System(arguments[1], arguments[2])
        let subscription = try node.subscribe("clipboard/copied", includesPast: true) { event in
            guard event.publisher != node.peerId else { return }
            do {
                if try await clipboard.paste(event.data) { say("got \(event.data.count) bytes") }
            } catch {
                say("the clipboard cannot be written: \(error)")
            }
        }
        while true {
            if let content = try await clipboard.copied(), content.count <= RunarNode.eventByteLimit {
                try await node.publishRaw("clipboard/copied", data: content)
                say("sent \(content.count) bytes")
            }
            do { try await Task.sleep(for: .milliseconds(300)) } catch { break }
        }
        subscription.cancel()
        await node.stop()
    }

    /// The clipboard of this machine, with exclusive access: content from another machine is not sent back.
    actor System {
        private let (reader, writer): (String, String)
        private var content: Data?

        init(_ reader: String, _ writer: String) { (self.reader, self.writer) = (reader, writer) }

        /// Returns the content that was copied since the last look.
        func copied() throws -> Data? {
            let found = try Clipboard.run(reader)
            defer { content = found }
            return [nil, found].contains(content) ? nil : found
        }

        /// Writes content of another machine to the clipboard; false if the clipboard has it already.
        func paste(_ new: Data) throws -> Bool {
            guard new != content else { return false }
            _ = try Clipboard.run(writer, input: new)
            content = new
            return true
        }
    }

    /// Runs a command of the shell to its end.
    static func run(_ command: String, input: Data? = nil) throws -> Data {
        let process = Process()
        let (output, standardInput) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardOutput = output
        process.standardInput = standardInput
        try process.run()
        if let input { try standardInput.fileHandleForWriting.write(contentsOf: input) }
        try standardInput.fileHandleForWriting.close()
        return try output.fileHandleForReading.readToEnd() ?? Data()
    }

    /// This machine's node, in the network that the first machine makes and the others join by invitation.
    static func start(_ name: String, invitation: String?) async throws -> RunarNode {
        let config = RunarNodeConfig(nodeId: name, defaultNetworkId: "Clipboard")
        config.homePath = FileManager.default.currentDirectoryPath + "/clipboard-\(name)"
        config.logLevel = .error
        let node = try RunarNode(config: config)
        try await node.start()
        if let invitation {
            try await node.join(by: Invitation(text: invitation))
            say("joined")
        } else if try node.networks().isEmpty {
            _ = try node.createNetwork(name: "Clipboard")
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

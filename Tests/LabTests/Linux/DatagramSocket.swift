#if os(Linux)
internal import Foundation
internal import TestSupport

/// A plain UDP socket on a host of the lab (Tests/Interop/datagrams.py), independent of this project.
final class DatagramSocket {
    /// A received datagram.
    struct Heard: Equatable {
        let address: String
        let port: Int
        let text: String
    }

    /// The results of a series of numbered datagrams to an echo server.
    struct Measurement: Decodable {
        let sent: Int
        let received: Int
        /// In seconds.
        let median: Double
        let runs: Int

        var lossPercent: Double { Double(sent - received) * 100 / Double(sent) }
        var meanRun: Double { runs == 0 ? 0 : Double(sent - received) / Double(runs) }
    }

    private struct Ended: Error {}

    private let process: ChildProcess
    private var unread: [String] = []

    init(_ host: NatLab.Host, of lab: NatLab, address: String = "0.0.0.0", port: Int, echoes: Bool = false) async throws
    {
        let script = packageRoot.appending(path: "Tests/Interop/datagrams.py").path
        let command = lab.wrapper(on: host) + ["python3", script, address, String(port)]
        process = try ChildProcess(path: command[0], arguments: Array(command.dropFirst()), takesLines: true)
        _ = try await line("ready")
        guard echoes else { return }
        try process.write("echo")
        // A datagram that arrives before it has read that is not sent back.
        _ = try await line("echoing")
    }

    deinit {
        _ = process.kill()
    }

    /// Sends a datagram, and returns when it has left the host.
    func send(_ text: String, to address: String, _ port: Int, afterSeconds seconds: Double? = nil) async throws {
        let words = seconds.map { "later \($0)" } ?? "send"
        try process.write("\(words) \(address) \(port) \(text)")
        _ = try await line("sent")
    }

    /// Waits for the next datagram.
    func heard() async throws -> Heard {
        let words = try await line("heard").split(separator: " ", maxSplits: 3)
        return Heard(address: String(words[1]), port: Int(words[2]) ?? 0, text: String(words[3]))
    }

    /// Asks one that echoes how it sees this socket.
    func mapping(
        seenBy address: String,
        _ port: Int,
        afterSeconds seconds: Double? = nil
    ) async throws -> (address: String, port: Int) {
        try await send("?", to: address, port, afterSeconds: seconds)
        let words = try await heard().text.split(separator: " ")
        return (String(words[0]), Int(words[1]) ?? 0)
    }

    func measure(to address: String, _ port: Int, count: Int, size: Int, milliseconds: Double) async throws
        -> Measurement
    {
        try process.write("measure \(address) \(port) \(count) \(size) \(milliseconds)")
        let text = try await line("measured").dropFirst("measured ".count)
        return try JSONDecoder().decode(Measurement.self, from: Data(text.utf8))
    }

    /// The next line with a prefix; others are kept for their readers.
    private func line(_ beginning: String) async throws -> String {
        if let index = unread.firstIndex(where: { $0.hasPrefix(beginning) }) { return unread.remove(at: index) }
        let process = process
        while let line = try await aside({ process.nextLine() }) {
            if line.hasPrefix(beginning) { return line }
            unread.append(line)
        }
        throw Ended()
    }
}
#endif

internal import CommandModel
internal import Foundation
internal import NodeModel

/// Reads the answer to a request incrementally.
struct AnswerReader<Answer: Decodable & Sendable>: Sendable {
    /// The longest line or report.
    private static var byteLimit: Int { 64 << 20 }

    private let onUpdate: @Sendable (NodeUpdate) async throws -> Void
    private var status = 200
    private var isInLines = false
    private var buffer: [UInt8] = []
    /// The number of bytes in which no end of a line was found.
    private var searchedCount = 0

    init(onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void) {
        self.onUpdate = onUpdate
    }

    /// The words for a node that stopped or died, which the end of a connection does not show.
    static var end: String { "ended while this command waited for it: `runar up` starts it again" }

    /// The failure for an answer that this version cannot read.
    static var unknown: CommandFailure {
        CommandFailure(
            "unknown-reply",
            .software,
            "this command does not understand the answer of the running node: restart the node with this version"
        )
    }

    /// Takes the status of HTTP, and whether the body has a JSON text on each line.
    mutating func begin(status: Int, isInLines: Bool) {
        self.status = status
        self.isInLines = isInLines
    }

    /// Takes a part of the body; returns the answer if its line is in it.
    ///
    /// - Throws: ``CommandFailure``.
    mutating func take(_ bytes: [UInt8]) async throws -> Answer? {
        buffer += bytes
        guard buffer.count <= Self.byteLimit else { throw Self.unknown }
        guard isInLines else { return nil }
        while let end = buffer[searchedCount...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(buffer[..<end])
            buffer.removeSubrange(...end)
            searchedCount = 0
            if let answer = try await take(line: line) { return answer }
        }
        searchedCount = buffer.count
        return nil
    }

    /// Takes a line; returns the answer if that is in it.
    ///
    /// - Throws: ``CommandFailure``; the error of the receiver of updates.
    func take(line: [UInt8]) async throws -> Answer? {
        let content: AnswerLine.Content<Answer>
        do {
            content = try AnswerLine.decode(line)
        } catch {
            throw Self.unknown
        }
        switch content {
        case .alive: return nil
        case .update(let update):
            try await onUpdate(update)
            return nil
        case .result(let answer): return answer
        case .failure(let failure): throw failure.commandFailure
        }
    }

    /// The report that the whole body is.
    ///
    /// - Throws: ``CommandFailure``.
    func finish() throws(CommandFailure) -> Answer {
        guard !isInLines else {
            throw CommandFailure("node-gone", .unavailable, "the running node \(Self.end)")
        }
        return try Self.answer(buffer, status: status)
    }

    /// Decodes the report of a body, or throws the failure that the status indicates.
    static func answer(_ body: [UInt8], status: Int) throws(CommandFailure) -> Answer {
        let failure: CommandFailure
        do {
            guard status >= 300 else { return try JSONText.decode(Answer.self, from: body) }
            failure = try JSONText.decode(FailureAnswer.self, from: body).error.commandFailure
        } catch {
            throw unknown
        }
        guard failure.code == "no-such-path" else { throw failure }
        throw CommandFailure(
            "unknown-request",
            .software,
            "the running node does not know this request; it may be older than this command: restart it"
        )
    }
}

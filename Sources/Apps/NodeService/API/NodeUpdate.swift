/// Something that happens before a request is done; a line of the answer.
package enum NodeUpdate: Hashable, Sendable {
    /// A listener is registered: nothing is missed from now on.
    case listening(ListeningReport)
    case message(MessageReport)
    case fileOffered(FileOfferReport)
    case fileArrived(FileArrivedReport)
    case transferred(count: UInt64, total: UInt64)
    case event(EventReport)
    /// A subscription is there: nothing is missed from now on.
    case subscribed(SubscribedReport)
    /// An event of a topic.
    case published(TopicEventReport)
    /// A service is offered from now on.
    case serving(ServingReport)
    /// A request to the offered service.
    case called(CallReport)
    /// The caller of a request has stopped waiting.
    case callEnded(Int)
    /// The invitation can be shown.
    case invited(InvitationReport)
    case joinRequested(JoinRequestReport)
    case joinPending(JoinPendingReport)
    /// A browser can be started.
    case consoleLink(ConsoleLinkReport)
    /// A device of the local network can be paired.
    case pairing(PairingReport)
}

/// A line of an answer that tells what happens: updates, then a result or a failure.
enum AnswerLine {
    /// The member of every line that says what it is.
    private struct Kind: Codable {
        let event: String
    }

    private struct Transferred: Codable {
        var event = "transferred"
        let count: UInt64
        let total: UInt64
    }

    private struct CallEnded: Codable {
        var event = "callEnded"
        let number: Int
    }

    /// An invitation with what its QR code carries.
    private struct Invited: Encodable {
        let report: InvitationReport

        private enum CodingKeys: String, CodingKey {
            case code
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(report.qrString, forKey: .code)
        }
    }

    fileprivate struct Done<Result> {
        var event = "done"
        let result: Result
    }

    private struct Failed: Codable {
        var event = "failed"
        let error: FailureView
    }

    static let alive = JSONText.bytes(Kind(event: "alive"))

    static func bytes(_ update: NodeUpdate) -> [UInt8] {
        switch update {
        case .listening(let report): JSONText.bytes(report)
        case .message(let report): JSONText.bytes(report)
        case .fileOffered(let report): JSONText.bytes(report)
        case .fileArrived(let report): JSONText.bytes(report)
        case .transferred(let count, let total): JSONText.bytes(Transferred(count: count, total: total))
        case .event(let report): JSONText.bytes(report)
        case .subscribed(let report): JSONText.bytes(report)
        case .published(let report): JSONText.bytes(report)
        case .serving(let report): JSONText.bytes(report)
        case .called(let report): JSONText.bytes(report)
        case .callEnded(let number): JSONText.bytes(CallEnded(number: number))
        case .invited(let report): JSONText.bytes(Invited(report: report))
        case .joinRequested(let report): JSONText.bytes(report)
        case .joinPending(let report): JSONText.bytes(report)
        case .pairing(let report): JSONText.bytes(report)
        case .consoleLink(let report): JSONText.bytes(report)
        }
    }

    static func bytes(result: some Encodable) -> [UInt8] { JSONText.bytes(Done(result: result)) }

    static func bytes(failure: FailureView) -> [UInt8] { JSONText.bytes(Failed(error: failure)) }

    /// The content of a line, for a client that waits for an `Answer`.
    enum Content<Answer> {
        case alive
        case update(NodeUpdate)
        case result(Answer)
        case failure(FailureView)
    }

    /// - Throws: `DecodingError` for a line that this version does not know.
    static func decode<Answer: Decodable>(_ line: [UInt8]) throws -> Content<Answer> {
        func report<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONText.decode(Value.self, from: line)
        }
        switch try report(Kind.self).event {
        case "alive": return .alive
        case "done": return .result(try report(Done<Answer>.self).result)
        case "failed": return .failure(try report(Failed.self).error)
        case "listening": return .update(.listening(try report()))
        case "message": return .update(.message(try report()))
        case "fileOffered": return .update(.fileOffered(try report()))
        case "file": return .update(.fileArrived(try report()))
        case "transferred":
            let progress: Transferred = try report()
            return .update(.transferred(count: progress.count, total: progress.total))
        case "subscribed": return .update(.subscribed(try report()))
        case "published": return .update(.published(try report()))
        case "serving": return .update(.serving(try report()))
        case "called": return .update(.called(try report()))
        case "callEnded": return .update(.callEnded(try report(CallEnded.self).number))
        case "invited": return .update(.invited(try report()))
        // The node's own events of these names have fewer members.
        case "joinRequested": return .update(try (try? .joinRequested(report())) ?? .event(report()))  // see above
        case "joinPending": return .update(try (try? .joinPending(report())) ?? .event(report()))  // the same
        case "consoleLink": return .update(.consoleLink(try report()))
        case "pairing": return .update(.pairing(try report()))
        // Everything else happened to the node.
        case _: return .update(.event(try report()))
        }
    }
}

extension AnswerLine.Done: Encodable where Result: Encodable {}
extension AnswerLine.Done: Decodable where Result: Decodable {}

internal import APIDescription
internal import CommandModel
internal import NodeModel

/// The kind of a line of an answer, its member `event`.
enum UpdateKind: String, CaseIterable, Sendable {
    case listening
    case message
    case fileOffered
    case offerEnded
    case fileArrived = "file"
    case fileFailed
    case transferred
    case subscribed
    case published
    case serving
    case called
    case callEnded
    case invited
    case joinRequested
    case joinPending
    case consoleLink
    case pairing
    case circle
    case thought
    case account
    /// Any kind of node event.
    case event
}

/// A line of an answer: an update, the result or the failure.
enum AnswerLine {
    /// The member with the kind, which every line has.
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

    /// The number by which a message is confirmed.
    private struct MessageDelivery: Codable {
        let delivery: Int
    }

    /// The text in the QR code of an invitation.
    private struct InvitationCode: Codable {
        let code: String
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
        case .message(let report, let delivery):
            JSONText.bytes(Joined(report, MessageDelivery(delivery: delivery)))
        case .fileOffered(let report): JSONText.bytes(report)
        case .offerEnded(let report): JSONText.bytes(report)
        case .fileArrived(let report): JSONText.bytes(report)
        case .fileFailed(let report): JSONText.bytes(report)
        case .transferred(let count, let total): JSONText.bytes(Transferred(count: count, total: total))
        case .event(let report): JSONText.bytes(report)
        case .subscribed(let report): JSONText.bytes(report)
        case .published(let report): JSONText.bytes(report)
        case .serving(let report): JSONText.bytes(report)
        case .called(let report): JSONText.bytes(report)
        case .callEnded(let number): JSONText.bytes(CallEnded(number: number))
        case .invited(let report): JSONText.bytes(Joined(report, InvitationCode(code: report.qrString)))
        case .joinRequested(let report): JSONText.bytes(report)
        case .joinPending(let report): JSONText.bytes(report)
        case .pairing(let report): JSONText.bytes(report)
        case .circle(let report): JSONText.bytes(report)
        case .thought(let report): JSONText.bytes(report)
        case .account(let report): JSONText.bytes(report)
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

    /// - Throws: `DecodingError` for a line of an unknown kind.
    static func decode<Answer: Decodable>(_ line: [UInt8]) throws -> Content<Answer> {
        func report<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONText.decode(Value.self, from: line)
        }
        let word = try report(Kind.self).event
        switch word {
        case "alive": return .alive
        case "done": return .result(try report(Done<Answer>.self).result)
        case "failed": return .failure(try report(Failed.self).error)
        case _: break
        }
        switch UpdateKind(rawValue: word) ?? .event {
        case .listening: return .update(.listening(try report()))
        case .message:
            return .update(.message(try report(), delivery: try report(MessageDelivery.self).delivery))
        case .fileOffered: return .update(.fileOffered(try report()))
        case .offerEnded: return .update(.offerEnded(try report()))
        case .fileArrived: return .update(.fileArrived(try report()))
        case .fileFailed: return .update(.fileFailed(try report()))
        case .transferred:
            let progress: Transferred = try report()
            return .update(.transferred(count: progress.count, total: progress.total))
        case .subscribed: return .update(.subscribed(try report()))
        case .published: return .update(.published(try report()))
        case .serving: return .update(.serving(try report()))
        case .called: return .update(.called(try report()))
        case .callEnded: return .update(.callEnded(try report(CallEnded.self).number))
        case .invited: return .update(.invited(try report()))
        // The node's own events of these names have fewer members.
        case .joinRequested: return .update(try (try? .joinRequested(report())) ?? .event(report()))  // see above
        case .joinPending: return .update(try (try? .joinPending(report())) ?? .event(report()))  // the same
        case .consoleLink: return .update(.consoleLink(try report()))
        case .pairing: return .update(.pairing(try report()))
        case .circle: return .update(.circle(try report()))
        case .thought: return .update(.thought(try report()))
        case .account: return .update(.account(try report()))
        case .event: return .update(.event(try report()))
        }
    }
}

extension AnswerLine.Done: Encodable where Result: Encodable {}
extension AnswerLine.Done: Decodable where Result: Decodable {}

// The schemas of the lines for the description of the API.
extension AnswerLine {
    /// The lines of an answer: those of some kinds, keep-alive lines, and the last one.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    static func schemas(of kinds: [UpdateKind], result: any Encodable.Type) throws -> [JSONSchema] {
        let updates = try kinds.map { try schema(of: $0) }
        let done = ObjectSchema(
            fields: [ObjectSchema.Field(name: "result", schema: try SchemaReader.schema(of: result), isRequired: true)]
        )
        return updates + [
            .object(try SchemaReader.object(of: Kind.self).with("event", .constant("alive"), name: "AliveLine")),
            .object(done.with("event", .constant("done"))),
            .object(try SchemaReader.object(of: Failed.self).with("event", .constant("failed"), name: "FailedLine")),
        ]
    }

    private static func schema(of kind: UpdateKind) throws -> JSONSchema {
        let type: any Decodable.Type =
            switch kind {
            case .listening: ListeningReport.self
            case .message: Joined<MessageReport, MessageDelivery>.self
            case .fileOffered: FileOfferReport.self
            case .offerEnded: OfferEndedReport.self
            case .fileArrived: FileArrivedReport.self
            case .fileFailed: FileFailedReport.self
            case .transferred: Transferred.self
            case .subscribed: SubscribedReport.self
            case .published: TopicEventReport.self
            case .serving: ServingReport.self
            case .called: CallReport.self
            case .callEnded: CallEnded.self
            case .invited: Joined<InvitationReport, InvitationCode>.self
            case .joinRequested: JoinRequestReport.self
            case .joinPending: JoinPendingReport.self
            case .consoleLink: ConsoleLinkReport.self
            case .pairing: PairingReport.self
            case .circle: CircleReport.self
            case .thought: ThoughtReport.self
            case .account: AccountStepReport.self
            case .event: EventReport.self
            }
        let object = try SchemaReader.object(of: type)
        return .object(kind == .event ? object : object.with("event", .constant(kind.rawValue)))
    }
}

package import Failures
package import Identity

/// One request to a STUN server, repeated until there is an answer or the patience ends (RFC 8489, section 6.2.1).
///
/// Its owner feeds it the datagrams from the network and the time, and applies the effects.
package struct STUNTransaction: Sendable {
    /// The retransmissions of a request, and the waits.
    package struct Schedule: Hashable, Sendable {
        /// The time between the first request and the second (RTO); each wait is twice the one before.
        package let firstWait: Duration
        /// The number of times that the request is sent (Rc).
        package let requestLimit: Int
        /// The wait after the last request, in first waits (Rm).
        package let lastWaits: Int

        package init(firstWait: Duration = .milliseconds(500), requestLimit: Int = 7, lastWaits: Int = 16) {
            precondition(firstWait > .zero && requestLimit > 0 && lastWaits > 0, "a schedule that never asks")
            self.firstWait = firstWait
            self.requestLimit = min(requestLimit, 16)
            self.lastWaits = lastWaits
        }

        /// The standard's: 7 requests, silence is certain after 39.5 seconds.
        package static let standard = Schedule()
        /// For a waiting user, and for requests to which silence is an answer: 5 requests in 9.5 seconds.
        package static let brief = Schedule(requestLimit: 5, lastWaits: 4)
    }

    /// An input from the driver.
    package enum Input: Sendable {
        /// Send the request now.
        case started
        /// A datagram arrived at the socket from which the request was sent.
        case datagramReceived([UInt8], from: SocketAddress)
        /// The time of the last `wake` effect was reached.
        case timeReached
    }

    /// An action for the driver.
    package enum Effect: Hashable, Sendable {
        case send([UInt8], to: SocketAddress)
        /// Feed `timeReached` at this time; replaces an earlier wake.
        case wake(at: Duration)
        /// The transaction has ended.
        case finish(Outcome)
    }

    typealias Turn = Identity.Turn<Duration, Effect>

    /// The result of the transaction.
    package enum Outcome: Hashable, Sendable {
        case answered(STUNAnswer)
        case failed(STUNFailure)
    }

    /// The destination of the request.
    package let server: SocketAddress
    /// The source from which the answer must arrive.
    package let source: SocketAddress
    private let id: STUNTransactionId
    private let request: [UInt8]
    private let schedule: Schedule
    private var requestCount = 0
    private var dueAt: Duration?

    /// Requests the observed address from `server`; the answer to a request for a change arrives from another `source`.
    package init(
        id: STUNTransactionId,
        server: SocketAddress,
        change: STUNChange = [],
        source: SocketAddress? = nil,
        schedule: Schedule = .standard
    ) {
        self.id = id
        self.server = server
        self.source = source ?? server
        self.schedule = schedule
        // A longer request is allowed a longer answer.
        let attributes: [STUNAttribute] = [.software("Runar")] + (change.isEmpty ? [] : [.changeRequest(change)])
        request = STUNPacket.encode(STUNMessage(.request, transaction: id, attributes: attributes))
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: Duration, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .started: sendRequest(&turn)
        case .datagramReceived(let bytes, let sender): received(bytes, from: sender, &turn)
        case .timeReached:
            guard let dueAt, dueAt <= turn.now else { return }
            guard requestCount < schedule.requestLimit else {
                return end(.failed(.noAnswer), &turn)
            }
            sendRequest(&turn)
        }
    }

    private mutating func sendRequest(_ turn: inout Turn) {
        turn.emit(.send(request, to: server))
        requestCount += 1
        let isLast = requestCount == schedule.requestLimit
        let waits = isLast ? schedule.lastWaits : 1 << (requestCount - 1)
        let dueAt = turn.now + schedule.firstWait * waits
        self.dueAt = dueAt
        turn.emit(.wake(at: dueAt))
    }

    /// Ignores datagrams that do not answer this request from the expected source.
    private mutating func received(_ bytes: [UInt8], from sender: SocketAddress, _ turn: inout Turn) {
        guard dueAt != nil, sender.unmapped == source.unmapped,
            let message = try? STUNPacket(bytes).message,  // any host may send to the socket
            message.transaction == id, message.method == STUNMessage.binding
        else { return }
        switch message.kind {
        case .request, .indication: return
        case .failure:
            guard let code = message.failure else { return }
            end(.failed(.refused(code)), &turn)
        case .success:
            guard message.unknownAttributes.isEmpty else {
                return end(.failed(.notUnderstood(message.unknownAttributes)), &turn)
            }
            guard let mapped = message.mappedAddress, mapped.isDialable else {
                return end(.failed(.noAddress), &turn)
            }
            end(.answered(STUNAnswer(mappedAddress: mapped, otherAddress: message.otherAddress)), &turn)
        }
    }

    private mutating func end(_ outcome: Outcome, _ turn: inout Turn) {
        dueAt = nil
        turn.emit(.finish(outcome))
    }
}

/// The answer of a STUN server.
package struct STUNAnswer: Hashable, Sendable {
    /// The address of this device that the server observes.
    package let mappedAddress: SocketAddress
    /// Its other address and port, if it has both.
    package let otherAddress: SocketAddress?

    package init(mappedAddress: SocketAddress, otherAddress: SocketAddress?) {
        self.mappedAddress = mappedAddress
        self.otherAddress = otherAddress
    }
}

/// Why there is no answer of a STUN server.
package enum STUNFailure: CodedError, Hashable, Sendable, CustomStringConvertible {
    /// No response arrived.
    case noAnswer
    /// The server refused.
    case refused(STUNErrorCode)
    /// The answer has a comprehension-required attribute that is not understood.
    case notUnderstood([UInt16])
    /// The answer names no address that a host could have.
    case noAddress

    package var description: String {
        switch self {
        case .noAnswer: "no answer: the server is not there, or something on the way stops UDP"
        case .refused(let code): "the server refused with \(code.code) : \(PlainText.quoted(code.reason))"
        case .notUnderstood(let types):
            "the answer has parts that are not understood here (\(types.map(String.init).joined(separator: ", ")))"
        case .noAddress: "the answer names no address: this is not a proper STUN server"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .noAnswer: FailureCode("no-answer", .unknown, .unavailable)
        case .refused: FailureCode("refused-by-server", .unknown, .unavailable)
        case .notUnderstood, .noAddress: FailureCode("bad-answer", .unknown, .unavailable)
        }
    }
}
